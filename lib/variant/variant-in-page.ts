import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession } from "playwright";
import type { RuntimeReport } from "./runtime/runtime-types.ts";

/**
 * Builds a script that reverts the variants that the service shows in the document, except the variant with this key.
 * Published and exported variants stay, because the page itself loads them.
 */
export const revertOthers = (key: string | null): string =>
  `for (const [key, handle] of Object.entries(window.__agentSessionVariants ?? {})) if (key !== ${JSON.stringify(key)} && !/^(pub|export)_/.test(key)) handle.revert();`;

/** Time limit for applying changes. It is longer than the 3 s that the runtime may wait for hydration. */
const APPLY_MS_MAX = 5_000;
const POLL_MS = 50;

/**
 * Runs a script in the page's main JavaScript context. Returns the script's value, converted through JSON.
 *
 * @throws Error if the page is gone.
 */
export async function runInPage(cdp: CDPSession, expression: string): Promise<unknown> {
  const { result } = await cdp.send("Runtime.evaluate", { expression, returnByValue: true });
  return result.value;
}

/**
 * Waits until a variant that runs in the page has applied every change whose element exists. Gives up after
 * `APPLY_MS_MAX`.
 *
 * @param lateIds ids of changes whose element may appear later. The wait ignores these changes.
 * @returns the runtime's report, which the page could forge. Undefined if the page does not run this variant.
 */
export async function untilApplied(
  cdp: CDPSession,
  variant: string,
  lateIds: ReadonlySet<string> = new Set(),
): Promise<RuntimeReport | undefined> {
  const expression = `window.__agentSessionVariants?.[${JSON.stringify(variant)}]?.report()`;
  const untilMs = performance.now() + APPLY_MS_MAX;
  for (;;) {
    const report = (await runInPage(cdp, expression)) as RuntimeReport | undefined;
    if (!report || isSettled(report, lateIds) || performance.now() > untilMs) return report;
    await sleep(POLL_MS);
  }
}

function isSettled({ isHydrating, changes }: RuntimeReport, lateIds: ReadonlySet<string>): boolean {
  const waiting = changes.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return true;
  return !isHydrating && waiting.every(({ id, matches }) => matches === 0 || lateIds.has(id));
}
