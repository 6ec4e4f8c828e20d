import { listen } from "./parent.ts";

/** After how long without an answer of the next document's server the calls of a script no longer wait for it. */
const PATIENCE_MS = 2_000;
/** The same for a call that has done its work. The script's next call waits instead. */
const DONE_PATIENCE_MS = 1_000;

let pending: { url: string; sinceMs: number; isRedirect: boolean } | undefined;
let lastInputMs = Number.NEGATIVE_INFINITY;
const listeners = new Set<() => void>();
/** How often a `page.goto` begins again after the page has replaced it, and how long that may take to be known. */
const REPEATS_MAX = 5;
const KNOWN_MS_MAX = 200;

/** Starts to follow which document the page waits for. */
export function followPendingNavigation(): void {
  listen("pending", (document) => {
    pending = document ? { ...document, sinceMs: performance.now() - document.ageMs } : undefined;
    for (const listener of [...listeners]) listener();
  });
}

/** Notes input that Playwright sends to the page. Call it with each DevTools message. */
export function recordInput({ method }: { method?: unknown }): void {
  if (typeof method === "string" && method.startsWith("Input.")) lastInputMs = performance.now();
}

/** Whether Playwright has sent input to the page at this time or later. */
export const hasSentInputSince = (sinceMs: number): boolean => lastInputMs >= sinceMs;

/** Says what the page waits for. Undefined if it waits for nothing. */
export function describePendingNavigation(): string | undefined {
  if (!pending) return undefined;
  const seconds = ((performance.now() - pending.sinceMs) / 1_000).toFixed(1);
  return `a navigation of the page to ${JSON.stringify(pending.url)} is pending: its server has not answered for ${seconds} s`;
}

/** A call of Playwright in progress. */
type Call = { beganMs: number; hasTimeout: boolean; isInput: boolean };

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
    const isDone = call.isInput && lastInputMs >= call.beganMs && pending.sinceMs >= call.beganMs;
    if (call.hasTimeout && !isDone) return;
    const leftMs = pending.sinceMs + (isDone ? DONE_PATIENCE_MS : PATIENCE_MS) - performance.now();
    if (leftMs > 0) timer = setTimeout(check, leftMs);
    else if (isDone) over.resolve({});
    else over.reject(new Error(`${describePendingNavigation()}. ${ADVICE}`));
  };
  listeners.add(check);
  // The failure of a call that is no longer awaited is ignored.
  work.catch(() => {});
  try {
    check();
    return await Promise.race([work, over.promise]);
  } finally {
    listeners.delete(check);
    clearTimeout(timer);
  }
}

const ADVICE = "Read the page of before with dom_query, wait with page.waitForURL, or leave with page.goto.";

/**
 * Plays `page.goto`. A page that navigates by itself, for example because it reloads itself every 300 ms, replaces the
 * navigation of the script; the script's navigation then begins again.
 */
export async function insist<Result>(url: string, go: () => Promise<Result>): Promise<Result> {
  for (let repeats = 0; ; repeats += 1) {
    const other = followOther(url);
    try {
      return await go();
    } catch (error) {
      const isAborted = error instanceof Error && error.message.includes("net::ERR_ABORTED");
      if (!isAborted || repeats >= REPEATS_MAX || !(await other.isKnownWithin(KNOWN_MS_MAX))) throw error;
    } finally {
      other.forget();
    }
  }
}

/** Follows whether the page requests another document than that of `url` and its redirects. */
function followOther(url: string) {
  const known = Promise.withResolvers<boolean>();
  const check = () => {
    if (pending && !pending.isRedirect && comparable(pending.url) !== comparable(url)) known.resolve(true);
  };
  listeners.add(check);
  return {
    isKnownWithin(ms: number) {
      const timer = setTimeout(() => known.resolve(false), ms);
      return known.promise.finally(() => clearTimeout(timer));
    },
    forget: () => void listeners.delete(check),
  };
}

/** The beginning of an address, without the fragment. The service sends only the first 2,000 characters of an address. */
const comparable = (url: string) => URL.parse(url)?.href.split("#", 1)[0]?.slice(0, 1_900);
