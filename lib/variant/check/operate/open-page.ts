import { setTimeout as sleep } from "node:timers/promises";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { PageFailure } from "../load/page-failure.ts";
import { sendInput, untilReacted } from "./send-input.ts";

const POLL_MS = 50;

/**
 * Carries out the steps that open what is behind an interaction, such as a menu, before the page is looked at.
 *
 * @throws PageFailure that names the step whose element does not exist, or is not visible.
 */
export async function openPage(
  check: CheckContext,
  { open }: Pick<CheckTarget, "open">,
  load: PageLoad,
): Promise<void> {
  for (const { field, selector } of open) {
    const untilMs = performance.now() + check.limits.stepMs;
    let point = await load.look("aimAtSelector", selector);
    while ((point === null || point === "hidden") && performance.now() < untilMs) {
      await sleep(POLL_MS);
      point = await load.look("aimAtSelector", selector);
    }
    if (point === null || point === "hidden") {
      const problem = point === null ? "matches no element" : "matches no visible element";
      const subject = load.subject.charAt(0).toLowerCase() + load.subject.slice(1);
      throw new PageFailure(
        `${field}: "${selector}" ${problem}, when ${subject} is opened. Correct the step.`,
      );
    }
    const { x, y } = point;
    await sendInput(check, load, () => load.page.mouse.click(x, y));
    await untilReacted(load);
  }
}
