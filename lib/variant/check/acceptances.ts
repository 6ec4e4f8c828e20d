import type { AcceptedBy } from "#db/schema/unions.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import type { Change, VariantDocument } from "../document.ts";
import type { CheckReport, Finding } from "./check-report.ts";
import { ASK_TO_ACCEPT, listUnexamined, statusOf, type UnexaminedPage } from "./conclude-check.ts";

/** The acceptance of a change that a check could not examine. */
export type Acceptance = {
  revision: number;
  changeId: string;
  /** Hash of the change that was accepted, from {@link hashChange}. */
  changeHash: string;
  places: UnexaminedPage[];
  acceptedBy: AcceptedBy;
  acceptedAt: Date;
};

/** Returns a hash of a change that is equal for changes of the same content. The note is not content. */
export const hashChange = ({ note: _note, ...content }: Change): string => hashBody(content);

/**
 * Marks the changes that a check could not examine and that are accepted. Their findings become warnings, and
 * the status is decided again. An acceptance holds for later checks and revisions, as long as the change has the same
 * content and the check could not examine it in the same places, for the same reasons.
 *
 * @param acceptances acceptances of changes of the variant, in the order in which they were given.
 */
export function withAcceptances(
  report: CheckReport,
  document: VariantDocument,
  acceptances: readonly Acceptance[],
): CheckReport {
  const unexamined = listUnexamined(report);
  if (unexamined.size === 0) return report;
  const changes = new Map(document.pages.flatMap((page) => page.changes).map((each) => [each.id, each]));
  const accepted = new Map<string, Acceptance>();
  for (const [id, places] of unexamined) {
    const change = changes.get(id);
    const hash = change && hashChange(change);
    const found = acceptances.findLast(
      (each) => each.changeId === id && each.changeHash === hash && coversAll(each.places, places),
    );
    if (found) accepted.set(id, found);
  }
  const pages = report.pages.map((page) => ({
    ...page,
    changes: page.changes.map(({ accepted: _, ...change }) => {
      const found = change.outcome === "not_examined" ? accepted.get(change.id) : undefined;
      return found ? { ...change, accepted: toAccepted(found) } : change;
    }),
  }));
  const findings = report.findings.map((finding): Finding => {
    if (finding.code !== "not_examined") return finding;
    const found = accepted.get(finding.changeId ?? "");
    return found
      ? { ...finding, level: "warn", message: describeAccepted(finding.message, found) }
      : { ...finding, level: "fail" };
  });
  return { ...report, pages, findings, status: statusOf({ findings, pages }) };
}

/** Replaces what a finding asks for by what was decided. The proposal to open the element stays. */
const describeAccepted = (message: string, { acceptedBy, revision }: Acceptance): string =>
  message.replace(
    ASK_TO_ACCEPT,
    `${acceptedBy === "caller" ? "A caller" : "A person"} has accepted this for revision ${revision}.`,
  );

const toAccepted = ({ acceptedBy, acceptedAt, revision }: Acceptance) => ({
  by: acceptedBy,
  at: acceptedAt.toISOString(),
  revision,
});

const coversAll = (accepted: readonly UnexaminedPage[], places: readonly UnexaminedPage[]): boolean =>
  places.every(({ url, viewport, reason }) =>
    accepted.some((each) => each.url === url && each.viewport === viewport && each.reason === reason),
  );
