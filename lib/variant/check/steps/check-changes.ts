import type { ExaminedChange } from "#lib/injected/check/examined-change.ts";
import type { SeenChange, SeenPage } from "#lib/injected/check/read-changes.ts";
import type { RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import type { CheckedPage, Finding } from "../check-report.ts";
import { ASK_TO_ACCEPT } from "../conclude-check.ts";
import type { CheckTarget } from "../load/check-context.ts";
import { makeFinding } from "../make-finding.ts";

export type CheckedChange = CheckedPage["changes"][number];

/** Whether a change is applied on the loaded page. Only such changes are examined further. */
export const isProven = ({ applied, hydration }: CheckedChange): boolean =>
  applied === "ok" && hydration === "ok";

type Observations = {
  seen: SeenPage;
  /** The state of the same page without the variant. */
  control: SeenPage;
  report: RuntimeReport | undefined;
};

const NOT_SEEN: SeenChange = {
  matched: 0,
  applied: 0,
  isApplied: false,
  hasNoEffect: false,
  problem: null,
  matchedAtMs: null,
  appliedAtMs: null,
  losses: 0,
  hasMatched: false,
  copies: 0,
  isVisible: null,
  isInShadow: false,
};
/** Operations that can make their own selector stop matching. */
const SELF_HIDING = new Set(["removeClass", "addClass", "removeAttribute", "setAttribute", "move", "remove"]);

/**
 * Decides for each change whether it is applied on the loaded page. If it is not, a finding says why, or when it was
 * lost. If the variant's script threw an error, or the variant is no longer on the page, another finding says so.
 */
export function checkChanges(
  target: CheckTarget,
  observed: Observations,
): { changes: CheckedChange[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const changes = target.changes.map((change) => {
    const { outcome, finding } = checkChange(target, change, observed);
    if (finding) findings.push(finding);
    return outcome;
  });
  if (observed.report === undefined)
    findings.push(
      makeFinding(target, "fail", "script_error", null, "The page removed or replaced the running variant."),
    );
  else if (observed.report.scriptError !== null) {
    const message = `The variant's js threw an error: ${observed.report.scriptError}`;
    findings.push(makeFinding(target, "fail", "script_error", null, message));
  }
  return { changes, findings };
}

function checkChange(target: CheckTarget, change: ExaminedChange, { seen, control, report }: Observations) {
  const found = seen.changes[change.id] ?? NOT_SEEN;
  const before = control.changes[change.id] ?? NOT_SEEN;
  const reported = report?.changes.find(({ id }) => id === change.id);
  const outcome: CheckedChange = {
    id: change.id,
    outcome: "failed",
    reason: null,
    matched: Math.max(found.matched, change.op === "remove" ? before.matched : 0),
    applied: "failed",
    hydration: "not_applicable",
    rerender: "not_applicable",
    navigation: "not_applicable",
    revert: "not_applicable",
    ...((found.isInShadow || before.isInShadow) && { isInShadow: true }),
  };
  const name = `${change.op} of "${change.selector}"`;
  const fail = (code: Finding["code"], message: string) => ({
    outcome,
    finding: makeFinding(target, "fail", code, change.id, message),
  });
  // On a very large page, the runtime may have changed the element before the check scanned it. The selector may then
  // no longer match, so the check has never seen the element. In this case, the runtime's report decides.
  const isUnseen =
    found.matched === 0 && before.matched > 0 && SELF_HIDING.has(change.op) && (reported?.applied ?? 0) > 0;

  if (reported?.state === "fight") {
    outcome.applied = "ok";
    outcome.hydration = "failed";
    return fail(
      "fight",
      `The page kept rendering over the ${name}, and the runtime stopped applying it. Choose an element that the page does not update.`,
    );
  }
  if (found.isApplied || isUnseen) {
    outcome.applied = "ok";
    outcome.hydration = "ok";
    const copies = expectedCopies(target.changes, change, { seen, control });
    if (copies === null || found.copies <= copies)
      return { outcome, finding: checkVisibility(target, change, outcome, found, before) };
    outcome.applied = "failed";
    return fail(
      "not_applied",
      `The HTML of the ${name} is on the page ${found.copies} times instead of ${copies}.`,
    );
  }
  if (found.hasNoEffect)
    return fail(
      "no_effect",
      `The ${name} is in the page, and people do not see it: the element ${found.problem}. Change what decides instead.`,
    );
  if (found.appliedAtMs !== null || (found.hasMatched && found.matched === 0)) {
    outcome.applied = found.appliedAtMs === null ? "failed" : "ok";
    outcome.hydration = "failed";
    const state =
      found.matched === 0
        ? "no element matches any more"
        : `the element ${found.problem ?? "does not carry it"}`;
    return fail(
      "lost_at_hydration",
      `The ${name} was lost while the page's scripts started: ${state}. Use a selector that matches what the scripts render.`,
    );
  }
  if (found.matched === 0) {
    const isLate = target.late.includes(change.id);
    const hint = isLate
      ? "The element did not come within 5 s."
      : "Correct the selector; for an element that comes after the page has loaded, set late: true.";
    const problem = reported?.error ? ` ${reported.error}` : "";
    return fail(
      "no_match",
      `"${change.selector}" matches no element on a fresh load of the page.${problem} ${hint}`,
    );
  }
  const count = found.matched > 1 ? ` on ${found.matched - found.applied} of ${found.matched} elements` : "";
  const why = reported?.error ?? `The element ${found.problem ?? "does not carry it"}.`;
  return fail("not_applied", `The ${name} is not applied${count}. ${why}`);
}

/** Operations that can hide an element on purpose. */
const HIDING = new Set(["setStyle", "addClass", "removeClass", "setAttribute", "removeAttribute"]);

/**
 * Judges an applied change whose elements have no visible box. The check fails if the change hides content that it does
 * not mean to hide. If the elements are not visible without the variant either, the change is not examined.
 */
function checkVisibility(
  target: CheckTarget,
  change: ExaminedChange,
  outcome: CheckedChange,
  found: SeenChange,
  before: SeenChange,
): Finding | undefined {
  if (found.isVisible !== false) return undefined;
  const { id, op, selector } = change;
  const isHiddenBefore = op === "insert" || before.isVisible === false;
  if (!isHiddenBefore) {
    const isEmptied =
      op === "setText" ? change.text.trim() === "" : op === "setHtml" && change.nodes.length === 0;
    if (HIDING.has(op) || isEmptied) return undefined;
    const message = `The ${op} of "${selector}" makes its element invisible: it has no visible box any more.`;
    return makeFinding(target, "fail", "not_visible", id, message);
  }
  outcome.reason = "It is not visible on the loaded page.";
  const message = `The ${op} of "${selector}" was not examined: it is in the document, and not visible on the loaded page. ${ASK_TO_ACCEPT}`;
  return makeFinding(target, "fail", "not_examined", id, message);
}

/**
 * Sets the outcome of each change from all findings: failed if a finding about the change says so, not examined if the
 * check did not see its effect, and proved otherwise.
 */
export function concludeChanges(changes: CheckedChange[], findings: Finding[]): void {
  for (const change of changes) {
    const failures = findings.filter(({ level, changeId }) => level === "fail" && changeId === change.id);
    const hasFailed = failures.some(({ code }) => code !== "not_examined");
    const reason = change.reason ?? failures[0]?.message ?? null;
    const isUnproven = !isProven(change) || change.rerender === "failed" || change.navigation === "failed";
    if (hasFailed || isUnproven || change.revert === "failed") {
      change.outcome = "failed";
      change.reason = null;
    } else {
      change.outcome = reason === null ? "proved" : "not_examined";
      change.reason = reason;
    }
  }
}

/** Computes how often the HTML of an insertion may be on the page. Null for other operations. */
function expectedCopies(
  changes: ExaminedChange[],
  change: ExaminedChange,
  { seen, control }: Pick<Observations, "seen" | "control">,
): number | null {
  if (change.op !== "insert") return null;
  const html = JSON.stringify(change.nodes);
  const same = changes.filter((other) => other.op === "insert" && JSON.stringify(other.nodes) === html);
  const matched = same.map(({ id }) => seen.changes[id]?.matched ?? 0).reduce((sum, each) => sum + each, 0);
  return matched + (control.changes[change.id]?.copies ?? 0);
}
