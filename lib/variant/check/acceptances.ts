import type { AcceptedBy } from "#db/schema/unions.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import type { Change, VariantDocument } from "../document.ts";
import type { CheckedPage, CheckReport, Finding } from "./check-report.ts";

/** A place where a check could not examine a change, and why. */
export type UnexaminedPlace = Pick<CheckedPage, "url" | "viewport"> & { reason: string | null };

/** The acceptance of a change that a check could not examine. */
export type Acceptance = {
  revision: number;
  changeId: string;
  /** Hash of the change that was accepted, from {@link hashChange}. */
  changeHash: string;
  places: UnexaminedPlace[];
  acceptedBy: AcceptedBy;
  acceptedAt: Date;
};

/** Returns a hash of a change that is equal for changes of the same content. The note is not content. */
export const hashChange = ({ note: _note, ...content }: Change): string => hashBody(content);

/** Lists the places where a check could not examine each change, by the id of the change. */
export function listUnexamined({ pages }: Pick<CheckReport, "pages">): Map<string, UnexaminedPlace[]> {
  const places = new Map<string, UnexaminedPlace[]>();
  for (const { url, viewport, changes } of pages)
    for (const { id, outcome, reason = null } of changes)
      if (outcome === "not_examined") places.set(id, [...(places.get(id) ?? []), { url, viewport, reason }]);
  return places;
}

/** Lists the ids of the changes that a check could not examine and that nobody has accepted. */
export const listUnaccepted = ({ pages }: Pick<CheckReport, "pages">): string[] => [
  ...new Set(
    pages.flatMap(({ changes }) =>
      changes.flatMap(({ id, outcome, accepted }) => (outcome === "not_examined" && !accepted ? [id] : [])),
    ),
  ),
];

const IDS_SHOWN = 10;

/** Names the changes that nobody has accepted: `changes that were not examined and not accepted: c1, c4`. */
export function describeUnaccepted(report: Pick<CheckReport, "pages">): string {
  const ids = listUnaccepted(report);
  const shown = ids.slice(0, IDS_SHOWN).join(", ");
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : "";
  return `${ids.length === 1 ? "a change that was" : "changes that were"} not examined and not accepted: ${shown}${more}`;
}

/** Whether a check has found a failure. A change that the check could not examine is none. */
export const hasFailure = (findings: readonly Finding[]): boolean =>
  findings.some(({ level, code }) => level === "fail" && code !== "not_examined");

/**
 * Decides the status of a check: `fail` if anything failed, or if a change was not examined and nobody has accepted
 * this.
 */
export function statusOf({
  findings,
  pages,
}: Pick<CheckReport, "findings" | "pages">): CheckReport["status"] {
  if (findings.some(({ level }) => level === "fail") || listUnaccepted({ pages }).length > 0) return "fail";
  return findings.length > 0 || listUnexamined({ pages }).size > 0 ? "warn" : "pass";
}

/**
 * Marks the changes that a check could not examine and that somebody has accepted. Their findings become warnings, and
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
    return { ...finding, level: accepted.has(finding.changeId ?? "") ? "warn" : "fail" };
  });
  return { ...report, pages, findings, status: statusOf({ findings, pages }) };
}

const toAccepted = ({ acceptedBy, acceptedAt, revision }: Acceptance) => ({
  by: acceptedBy,
  at: acceptedAt.toISOString(),
  revision,
});

const coversAll = (accepted: readonly UnexaminedPlace[], places: readonly UnexaminedPlace[]): boolean =>
  places.every(({ url, viewport, reason }) =>
    accepted.some((each) => each.url === url && each.viewport === viewport && each.reason === reason),
  );
