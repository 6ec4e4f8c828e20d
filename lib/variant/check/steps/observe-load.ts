import type { PageLayout } from "#lib/injected/check/measure-layout.ts";
import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import type { DomSnapshot } from "#lib/injected/check/snapshot-dom.ts";
import type { RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { PageFailure } from "../load/page-failure.ts";
import { readReport } from "../load/read-report.ts";
import { countLosses, type Losses } from "./check-fight.ts";
import { readViolations, type Violations } from "./compare-accessibility.ts";
import { type MutationCost, measureCost } from "./measure-cost.ts";
import { type PagePicture, takePagePicture } from "./take-pictures.ts";

/** The data that is read from a load after its page has stopped changing. */
export type Observation = {
  seen: SeenPage;
  report: RuntimeReport | undefined;
  /** How often the page had undone each change when the load was read. */
  losses: Losses;
  /** Two snapshots of the document, taken at different times. */
  snapshots: DomSnapshot[];
  picture: PagePicture;
  violations: Violations;
  layout: PageLayout;
  cost: MutationCost;
};

/**
 * Checks that a load still shows the target page.
 *
 * @throws PageFailure if the load was redirected to another page.
 */
export function assertHere(target: CheckTarget, { page, subject }: PageLoad): void {
  if (!target.isHere(page.url()))
    throw new PageFailure(`${subject} leads to ${page.url()}, which the page entry does not match.`);
}

/** Reads all data of a load. The caller has waited until the page has stopped changing. */
export async function observeLoad(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
): Promise<Observation> {
  const seen = await load.look("readChanges", null);
  const losses = await countLosses(load, check);
  const report = await readReport(load, check.variant);
  const firstDom = await load.look("snapshotDom", null);
  const picture = await takePagePicture(load, target);
  const violations = await readViolations(load, check);
  const laterDom = await load.look("snapshotDom", null);
  // Measuring the layout scrolls the page, and pages react to scrolling, so this step comes last.
  const layout = await load.look("measureLayout", null);
  const cost = await measureCost(load, check);
  return { seen, report, losses, snapshots: [firstDom, laterDom], picture, violations, layout, cost };
}
