import type {
  CheckedPage,
  CheckFinding,
  CheckReport,
  VariantRevision,
  VariantView,
} from "../state/view-types.ts";
import { formatAddress } from "./format.ts";
import type { Tone } from "./state-words.ts";

type CheckWords = { tone: Tone; title: string };

const STATUS_WORDS: Record<CheckReport["status"], CheckWords> = {
  pass: { tone: "good", title: "Check passed" },
  warn: { tone: "attention", title: "Passed with warnings" },
  fail: { tone: "bad", title: "Check not passed" },
};

/** Describes the newest check of a revision. `check` is null if the revision was not checked. */
export const describeCheck = (check: VariantView["check"]): CheckWords =>
  check === null ? { tone: "quiet", title: "Not checked" } : STATUS_WORDS[check.status];

/** The names of the widths at which pages are checked and shown. */
export const VIEWPORT_NAMES: Record<CheckedPage["viewport"], string> = {
  desktop: "Desktop",
  tablet: "Tablet",
  phone: "Phone",
};

/** A finding, with all widths at which the check found it. */
export type FindingView = Omit<CheckFinding, "viewport"> & { viewports: CheckedPage["viewport"][] };

/** Merges findings that differ only in their width. Failures come before warnings. */
export function groupFindings(findings: CheckFinding[]): FindingView[] {
  const groups = new Map<string, FindingView>();
  for (const { viewport, ...finding } of findings) {
    const { level, code, changeId, url, message } = finding;
    const id = JSON.stringify([level, code, changeId, url, message]);
    const group = groups.get(id) ?? { ...finding, viewports: [] };
    if (finding.picture) group.picture ??= finding.picture;
    if (viewport !== null && !group.viewports.includes(viewport)) group.viewports.push(viewport);
    groups.set(id, group);
  }
  const found = [...groups.values()];
  return [...found.filter(({ level }) => level === "fail"), ...found.filter(({ level }) => level === "warn")];
}

/** The findings of a check, grouped by change. */
type AssignedFindings = {
  /** Findings that concern no change, or a change that is not in the document. */
  general: FindingView[];
  byChange: ReadonlyMap<string, FindingView[]>;
};

/** Groups the findings of a revision's check by the changes that they concern. */
export function assignFindings({ check, document }: VariantRevision): AssignedFindings {
  const byChange = new Map<string, FindingView[]>(
    document.pages.flatMap(({ changes }) => changes.map(({ id }) => [id, []])),
  );
  const general: FindingView[] = [];
  for (const finding of groupFindings(check?.findings ?? []))
    (byChange.get(finding.changeId ?? "") ?? general).push(finding);
  return { general, byChange };
}

/** Whether a check opened several pages. If so, the page shows the address with each finding. */
export const hasSeveralPages = (check: CheckReport | null): boolean =>
  new Set(check?.pages.map(({ url }) => url)).size > 1;

/** Describes when the last change was applied: `before the first paint`, `120 ms after the first paint`. */
export function describePaint(paintToAppliedMs: number | null): string {
  if (paintToAppliedMs === null) return "unknown";
  if (paintToAppliedMs <= 0) return "before the first paint";
  return `${Math.round(paintToAppliedMs)} ms after the first paint`;
}

/** Formats a layout shift score: `0`, `0.012`, `below 0.001`. */
export function formatLayoutShift(shift: number): string {
  if (shift <= 0) return "0";
  return shift < 0.001 ? "below 0.001" : String(Number(shift.toFixed(3)));
}

/** Describes where a check found something: `desktop, phone · shop.example/checkout`. */
export function describePlace(
  { viewports, url }: Pick<FindingView, "viewports" | "url">,
  hasAddress: boolean,
): string {
  const widths = viewports.map((viewport) => VIEWPORT_NAMES[viewport].toLowerCase()).join(", ");
  return [...(widths ? [widths] : []), ...(hasAddress ? [formatAddress(url)] : [])].join(" · ");
}
