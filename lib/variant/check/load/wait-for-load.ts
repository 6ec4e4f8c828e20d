import { openPage } from "../operate/open-page.ts";
import type { CheckContext, CheckTarget } from "./check-context.ts";
import type { PageLoad } from "./open-load.ts";
import { readReport } from "./read-report.ts";

const QUIET_MS = 100;
/** Limit for the wait until a page's content stops changing. Some pages never stop. */
const QUIET_MS_MAX = 1_000;
const POLL_MS = 50;

/**
 * Waits until a page has loaded, has no pending requests and no longer changes its content. The waits for requests and
 * for content end after a limit, because some pages never stop.
 *
 * @param ageMs minimum age of the page, in milliseconds since navigation start. Loads of the same age can be compared.
 * @returns milliseconds since navigation start.
 */
export async function waitForLoad(load: PageLoad, { limits }: CheckContext, ageMs = 0): Promise<number> {
  const untilMs = performance.now() + limits.quietWaitMs;
  const wanted = { quietMs: QUIET_MS, loadedMs: limits.loadedMs, ageMs, maxMs: QUIET_MS_MAX };
  const timeoutMs = ageMs + limits.loadedMs + QUIET_MS_MAX + limits.answerMs;
  for (;;) {
    const age = await load.look("untilQuiet", wanted, timeoutMs);
    if (load.pendingRequests() === 0 || performance.now() >= untilMs) return age;
  }
}

/** Waits as `waitForLoad` does, and then opens what is behind the target's steps. */
export async function waitForControl(
  load: PageLoad,
  check: CheckContext,
  { open }: Pick<CheckTarget, "open">,
  ageMs = 0,
): Promise<number> {
  const age = await waitForLoad(load, check, ageMs);
  await openPage(check, { open }, load);
  return open.length === 0 ? age : waitForLoad(load, check);
}

/**
 * Waits until the page has hydrated and shows something, opens what is behind the target's steps, and waits until the
 * changes with these ids are applied. Then waits as `waitForLoad` does. The changes in `late` get more time, because their
 * elements appear only after the page has loaded. If the time runs out, this function still resolves; a later step
 * checks the changes.
 *
 * @returns milliseconds since navigation start.
 */
export async function waitForVariant(
  load: PageLoad,
  check: CheckContext,
  { late, open }: Pick<CheckTarget, "late" | "open">,
  ids: string[],
  ageMs = 0,
): Promise<number> {
  const { limits, variant } = check;
  const early = ids.filter((id) => !late.includes(id));
  const age = await waitForLoad(load, check, ageMs);
  const startMs = performance.now();
  const remainingMs = () => Math.max(0, startMs + limits.applyMs - performance.now());
  // Some variants hide the page until they are applied.
  const isStarting = async () =>
    (await readReport(load, variant))?.isHydrating === true || (await load.look("isBlank", null));
  let isWaiting = await isStarting();
  if (!isWaiting && open.length === 0 && (await untilApplied(load, check, ids, 0))) return age;
  while (isWaiting && remainingMs() > 0) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    isWaiting = await isStarting();
  }
  await openPage(check, { open }, load);
  await untilApplied(load, check, early, remainingMs());
  await untilApplied(
    load,
    check,
    ids.filter((id) => late.includes(id)),
    limits.lateMs,
  );
  return waitForLoad(load, check);
}

/**
 * Resolves when the changes with these ids are applied, or when the time limit `maxMs` has passed. On a busy machine,
 * the wait may last longer than `maxMs`. Returns whether all of these changes are applied.
 */
export const untilApplied = (
  load: PageLoad,
  { limits }: Pick<CheckContext, "limits">,
  ids: string[],
  maxMs: number,
): Promise<boolean> => load.look("untilApplied", { ids, maxMs }, maxMs + limits.answerMs);
