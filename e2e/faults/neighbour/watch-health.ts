import { Agent, get } from "node:http";

const ASK_EVERY_MS = 100;

/** Asks `/api/health` regularly, each time over a new connection, also while earlier requests have no answer. */
export function watchHealth(baseUrl: string) {
  const agent = new Agent({ keepAlive: false });
  const open = new Set<number>();
  let longestMs = 0;
  let failures = 0;
  const timer = setInterval(() => {
    const startedAt = performance.now();
    open.add(startedAt);
    const end = (ok: boolean) => {
      if (!open.delete(startedAt)) return;
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      if (!ok) failures += 1;
    };
    get(new URL("/api/health", baseUrl), { agent }, (response) => {
      response.resume();
      response.on("end", () => end(response.statusCode === 200));
      response.on("error", () => end(false));
    }).on("error", () => end(false));
  }, ASK_EVERY_MS);
  return {
    /** @returns the longest time that an answer took; a request without an answer counts until now. */
    stop() {
      clearInterval(timer);
      agent.destroy();
      for (const startedAt of open) longestMs = Math.max(longestMs, performance.now() - startedAt);
      open.clear();
      return { longestMs, failures };
    },
  };
}
