import { countOf } from "#lib/text/count-of.ts";
import type { CheckedPage } from "../state/view-types.ts";
import { VIEWPORT_NAMES } from "./describe-check.ts";

type CheckedChange = CheckedPage["changes"][number];
type Step = "applied" | "hydration" | "rerender" | "navigation" | "revert";

/** The result of one test of a change. A check tests in several steps whether a change works on a page. */
export type ProofMark = {
  step: Step;
  outcome: CheckedChange[Step];
  /** The result as a sentence: `Survived the start of the page’s scripts.` */
  sentence: string;
};

/** The test results of a change, summarized over all pages and widths that were checked. */
export type Proof = {
  /** How many elements the change matched: `1 element`, `1 to 3 elements`. */
  matched: string;
  marks: ProofMark[];
};

const SENTENCES: Record<Step, Record<CheckedChange[Step], string>> = {
  applied: {
    ok: "Applied on a fresh load.",
    failed: "Not applied on a fresh load",
    not_applicable: "Applying it was not tested.",
  },
  hydration: {
    ok: "Survived the start of the page’s scripts.",
    failed: "Lost when the page’s scripts started",
    not_applicable: "The page has no server-rendered part that its scripts take over.",
  },
  rerender: {
    ok: "Came back after its element was rendered again.",
    failed: "Lost when its element was rendered again",
    not_applicable: "Rendering its element again was not tested.",
  },
  navigation: {
    ok: "Came back after leaving the page and returning.",
    failed: "Lost after leaving the page and returning",
    not_applicable: "The page has no link for leaving and returning.",
  },
  revert: {
    ok: "Reverted without a trace.",
    failed: "Left a trace when it was reverted",
    not_applicable: "Reverting it was not tested.",
  },
};

const STEPS: readonly Step[] = ["applied", "hydration", "rerender", "navigation", "revert"];

/** Summarizes the test results of a change. Undefined if the check did not cover the change. */
export function describeProof(pages: readonly CheckedPage[], changeId: string): Proof | undefined {
  const checked = pages.flatMap(({ viewport, changes }) =>
    changes.filter(({ id }) => id === changeId).map((change) => ({ viewport, change })),
  );
  if (checked.length === 0) return undefined;
  const counts = checked.map(({ change }) => change.matched);
  const marks = STEPS.map((step): ProofMark => {
    const failed = checked.filter(({ change }) => change[step] === "failed");
    if (failed.length > 0) {
      const where = [...new Set(failed.map(({ viewport }) => VIEWPORT_NAMES[viewport].toLowerCase()))];
      const place = failed.length < checked.length ? ` (${where.join(", ")})` : "";
      return { step, outcome: "failed", sentence: `${SENTENCES[step].failed}${place}.` };
    }
    const outcome = checked.some(({ change }) => change[step] === "ok") ? "ok" : "not_applicable";
    return { step, outcome, sentence: SENTENCES[step][outcome] };
  });
  return { matched: describeMatches(Math.min(...counts), Math.max(...counts)), marks };
}

const describeMatches = (least: number, most: number): string => {
  if (least !== most) return `${least} to ${most} elements`;
  return countOf(most, "element");
};
