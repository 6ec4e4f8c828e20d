import { listen } from "./parent.ts";

/** After how long without an answer of the next document's server the calls of a script no longer wait for it. */
const PATIENCE_MS = 2_000;

let pending: { url: string; sinceMs: number } | undefined;
let lastInputMs = Number.NEGATIVE_INFINITY;
const listeners = new Set<() => void>();

/** Starts to follow which document the page waits for. */
export function followPendingNavigation(): void {
  listen("pending", (document) => {
    pending = document ? { url: document.url, sinceMs: performance.now() - document.ageMs } : undefined;
    for (const listener of [...listeners]) listener();
  });
}

/** Notes input that Playwright sends to the page. Call it with each DevTools message. */
export function noteInput({ method }: { method?: unknown }): void {
  if (typeof method === "string" && method.startsWith("Input.")) lastInputMs = performance.now();
}

/** Says what the page waits for. Undefined if it waits for nothing. */
export function describePendingNavigation(): string | undefined {
  if (!pending) return undefined;
  const seconds = ((performance.now() - pending.sinceMs) / 1_000).toFixed(1);
  return `a navigation of the page to ${JSON.stringify(pending.url)} is pending: its server has not answered for ${seconds} s`;
}

/** A call of Playwright in progress. */
type Call = { beganMs: number; hasTimeout: boolean };

/**
 * Waits for a call of Playwright, but not for the server of the next document: while a navigation is pending, Chromium
 * does not let the call reach the page. If the call has no timeout of its own, it fails then. If it has sent its input to
 * the page before the navigation began, it has succeeded, because Playwright only waits for the next document.
 */
export async function unlessPending(work: Promise<unknown>, call: Call): Promise<unknown> {
  const over = Promise.withResolvers<unknown>();
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    clearTimeout(timer);
    if (!pending) return;
    const leftMs = pending.sinceMs + PATIENCE_MS - performance.now();
    if (leftMs > 0) timer = setTimeout(check, leftMs);
    else if (!call.hasTimeout)
      over.reject(
        new Error(
          `${describePendingNavigation()}. Read the page of before with dom_query, wait with page.waitForURL, or leave with page.goto.`,
        ),
      );
    else if (lastInputMs >= call.beganMs && pending.sinceMs >= call.beganMs) over.resolve({});
  };
  listeners.add(check);
  try {
    check();
    // The failure of a call that is no longer awaited is ignored.
    work.catch(() => {});
    return await Promise.race([work, over.promise]);
  } finally {
    listeners.delete(check);
    clearTimeout(timer);
  }
}
