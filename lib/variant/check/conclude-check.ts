import type { CheckedPage, CheckReport, Finding } from "./check-report.ts";

/** A place where a check could not examine a change, and why. */
export type UnexaminedPage = Pick<CheckedPage, "url" | "viewport"> & { reason: string | null };

/** What a finding asks for if the check could not examine a change. */
export const ASK_TO_ACCEPT =
  "Correct it if people are to see it there. Otherwise ask the person to accept it: only people and the caller can do this.";

/** Lists the places where a check could not examine each change, by the id of the change. */
export function listUnexamined({ pages }: Pick<CheckReport, "pages">): Map<string, UnexaminedPage[]> {
  const places = new Map<string, UnexaminedPage[]>();
  for (const { url, viewport, changes } of pages)
    for (const { id, outcome, reason = null } of changes)
      if (outcome === "not_examined") places.set(id, [...(places.get(id) ?? []), { url, viewport, reason }]);
  return places;
}

/** Lists the ids of the changes that a check could not examine and that are not accepted. */
export const listUnaccepted = ({ pages }: Pick<CheckReport, "pages">): string[] => [
  ...new Set(
    pages.flatMap(({ changes }) =>
      changes.flatMap(({ id, outcome, accepted }) => (outcome === "not_examined" && !accepted ? [id] : [])),
    ),
  ),
];

const IDS_SHOWN = 10;

/** Names the changes that are not accepted: `changes that were not examined and not accepted: c1, c4`. */
export function describeUnaccepted(report: Pick<CheckReport, "pages">): string {
  const ids = listUnaccepted(report);
  const shown = ids.slice(0, IDS_SHOWN).join(", ");
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : "";
  return `${ids.length === 1 ? "a change that was" : "changes that were"} not examined and not accepted: ${shown}${more}`;
}

/** Whether a check has found a failure. A change that the check could not examine is none. */
export const hasFailure = (findings: readonly Finding[]): boolean =>
  findings.some(({ level, code }) => level === "fail" && code !== "not_examined");

/** Decides the status of a check: `fail` if anything failed, or if a change was neither examined nor accepted. */
export function statusOf({
  findings,
  pages,
}: Pick<CheckReport, "findings" | "pages">): CheckReport["status"] {
  if (findings.some(({ level }) => level === "fail") || listUnaccepted({ pages }).length > 0) return "fail";
  return findings.length > 0 || listUnexamined({ pages }).size > 0 ? "warn" : "pass";
}
