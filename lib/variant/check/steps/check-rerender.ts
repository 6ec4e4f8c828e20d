import type { Disturbance, OriginalElement } from "#lib/injected/check/disturb-change.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { untilApplied, waitForLoad } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import { type CheckedChange, isProven } from "./check-changes.ts";

const WAYS: Disturbance[] = ["restore", "replace"];
const RENDERED: Readonly<Record<Disturbance, string>> = {
  restore: "the page had rendered its own content again",
  replace: "the page had replaced its element by a new one",
};

/**
 * Overwrites the elements of each applied change, as a framework does when it renders again. The change must then be
 * applied again. This step may break the page.
 *
 * @param changes outcomes of all changes. Sets `rerender` for each applied change whose elements could be overwritten.
 */
export async function checkRerender(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  changes: CheckedChange[],
  originals: Record<string, OriginalElement[]>,
): Promise<Finding[]> {
  const problems = new Map<string, string>();
  for (const outcome of changes.filter(isProven)) {
    const problem = await disturb(check, load, outcome, originals[outcome.id] ?? []);
    if (problem !== undefined) problems.set(outcome.id, problem);
  }
  await waitForLoad(load, check);
  const rendered = changes.filter(({ id, rerender }) => rerender === "ok" && !problems.has(id));
  for (const { id } of rendered)
    if (!(await untilApplied(load, check, [id], check.limits.rerenderMs)))
      problems.set(id, "came back after its element was rendered again, and was lost a little later");
  return [...problems].map(([id, problem]) => {
    for (const outcome of changes) if (outcome.id === id) outcome.rerender = "failed";
    const { selector, op } = target.changes.find((change) => change.id === id) ?? { selector: "", op: "" };
    return makeFinding(target, "fail", "lost_at_render", id, `The ${op} of "${selector}" ${problem}.`);
  });
}

/**
 * Overwrites the elements of one change in each of the `WAYS`. Returns what went wrong. Undefined if the change was
 * applied again each time, or if no element could be overwritten.
 */
async function disturb(
  { limits }: CheckContext,
  load: PageLoad,
  outcome: CheckedChange,
  originals: OriginalElement[],
): Promise<string | undefined> {
  const { id } = outcome;
  const { rerenderMs, answerMs } = limits;
  for (const way of WAYS) {
    const input = { id, way, originals, maxMs: rerenderMs };
    const rendered = await load.look("disturbChange", input, rerenderMs + answerMs);
    if (!rendered.isDisturbed) continue;
    if (!rendered.isApplied) return `did not come back after ${RENDERED[way]}`;
    if (rendered.isRepeated) return `was inserted once more after ${RENDERED[way]}`;
    outcome.rerender = "ok";
  }
  return undefined;
}
