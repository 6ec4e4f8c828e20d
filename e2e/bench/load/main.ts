import { Agent, request } from "node:http";

// A process that sends requests at a constant rate, like visitors who load scripts. A slow response does not delay
// later requests. All URLs are on loopback.

export type LoadOrder = {
  requests: { url: string; headers: Record<string, string>; status: number }[];
  perSecond: number;
};
/**
 * The result of a `LoadOrder`. `sent` counts all requests that were due, also those that were not sent because too many
 * were open. `errors` counts the requests that were not sent, got no response, or got a response with an unexpected
 * status.
 */
export type LoadReport = { sent: number; errors: number; timesMs: number[] };

const TICK_MS = 5;
const TIMEOUT_MS = 5_000;
/** While this many requests are open, further requests are not sent and count as errors. */
const OPEN_MAX = 500;

let stop: (() => Promise<LoadReport>) | undefined;

function start({ requests, perSecond }: LoadOrder): () => Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX });
  const report: LoadReport = { sent: 0, errors: 0, timesMs: [] };
  const drained = Promise.withResolvers<void>();
  let open = 0;
  let isOver = false;

  function send() {
    const target = requests[report.sent++ % requests.length];
    if (!target || open >= OPEN_MAX) {
      report.errors += 1;
      return;
    }
    open += 1;
    const startedAt = performance.now();
    const call = request(target.url, { agent, headers: target.headers }, (response) => {
      if (response.statusCode !== target.status) report.errors += 1;
      response.resume().once("end", () => report.timesMs.push(performance.now() - startedAt));
    });
    call.setTimeout(TIMEOUT_MS, () => call.destroy(new Error("no answer")));
    call.once("error", () => {
      report.errors += 1;
    });
    call.once("close", () => {
      open -= 1;
      if (isOver && open === 0) drained.resolve();
    });
    call.end();
  }

  const startedAt = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * perSecond) / 1000;
    while (report.sent < due) send();
  }, TICK_MS);
  return async () => {
    clearInterval(timer);
    isOver = true;
    if (open > 0) await drained.promise;
    agent.destroy();
    return report;
  };
}

process.on("message", async (message: LoadOrder | "stop") => {
  if (message !== "stop") {
    stop = start(message);
    process.send?.("started");
  } else process.send?.(await stop?.());
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port: 0 });
