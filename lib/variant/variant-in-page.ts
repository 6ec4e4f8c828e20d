import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession } from "playwright";
import type { RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import { parseReport, reportExpression } from "./runtime-report.ts";

/**
 * Builds a script that reverts the variants that the service shows in the document, except the variant with this key.
 * Published and exported variants stay, because the page itself loads them.
 */
export const revertOthers = (key: string | null): string =>
  `for (const key in window.__agentSessionVariants) if (key !== ${JSON.stringify(key)} && !/^(pub|export)_/.test(key)) window.__agentSessionVariants[key]?.revert?.();`;

/** Time limit for applying changes. It is longer than the 3 s that the runtime may wait for hydration. */
const APPLY_MS_MAX = 5_000;
const POLL_MS = 50;
/** Time limit for one report. The page can replace the function that makes it. */
const REPORT_MS_MAX = 1_000;

/**
 * Runs a script in the page's main JavaScript context. Returns the script's value, converted through JSON.
 *
 * @param timeoutMs time after which Chromium ends the script. @throws Error if it does, or if the page is gone.
 */
export async function runInPage(cdp: CDPSession, expression: string, timeoutMs?: number): Promise<unknown> {
  const { result } = await cdp.send("Runtime.evaluate", {
    expression,
    returnByValue: true,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
  return result.value;
}

/**
 * Waits until a variant that runs in the page has applied every change whose element exists. Gives up after
 * `APPLY_MS_MAX`.
 *
 * @param lateIds ids of changes whose element may appear later. The wait ignores these changes.
 * @returns the runtime's report, which the page could forge. Undefined if the page has no valid report on this variant.
 */
export async function untilApplied(
  cdp: CDPSession,
  variant: string,
  lateIds: ReadonlySet<string> = new Set(),
): Promise<RuntimeReport | undefined> {
  const untilMs = performance.now() + APPLY_MS_MAX;
  for (;;) {
    const report = parseReport(await readInPage(cdp, reportExpression(variant)));
    if (!report || isSettled(report, lateIds) || performance.now() > untilMs) return report;
    await sleep(POLL_MS);
  }
}

/** Undefined if the page does not answer in time. */
const readInPage = (cdp: CDPSession, expression: string): Promise<unknown> =>
  runInPage(cdp, expression, REPORT_MS_MAX).catch((error: unknown) => {
    if (!/terminated/i.test(String(error))) throw error;
  });

function isSettled({ isHydrating, changes }: RuntimeReport, lateIds: ReadonlySet<string>): boolean {
  const waiting = changes.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return true;
  return !isHydrating && waiting.every(({ id, matches }) => matches === 0 || lateIds.has(id));
}
