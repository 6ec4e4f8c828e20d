import type { CheckedPage, VariantRevision } from "../state/view-types.ts";
import { nameChange } from "./describe-change.ts";
import type { Tone } from "./state-words.ts";

export { hasFailure } from "#lib/variant/check/conclude-check.ts";

type CheckedChange = CheckedPage["changes"][number];
type Outcome = NonNullable<CheckedChange["outcome"]>;

/** What a check concluded about one change, on all pages and at all widths that were checked. */
export type OutcomeView = {
  changeId: string;
  /** The change in a few words: `Text of #pay`. */
  name: string;
  outcome: Outcome;
  tone: Tone;
  /** The outcome in words: `Not examined, accepted by a person`. */
  title: string;
  /** Why the change was not examined, and where. Empty for the other outcomes. */
  reasons: { text: string; url: string; viewports: CheckedPage["viewport"][] }[];
  isAccepted: boolean;
};

const OUTCOMES: Record<Outcome, { tone: Tone; title: string }> = {
  proved: { tone: "good", title: "Proved" },
  failed: { tone: "bad", title: "Failed" },
  not_examined: { tone: "attention", title: "Not examined" },
};

const ACCEPTED: Record<NonNullable<CheckedChange["accepted"]>["by"], string> = {
  caller: "Not examined, accepted over the API",
  person: "Not examined, accepted by a person",
};

/**
 * Describes what the check of a revision concluded about each of its changes, in the order of the document. A change
 * failed if it failed on any page. Leaves out changes that the check did not cover, and checks without outcomes.
 */
export function describeOutcomes({ document, check }: VariantRevision): OutcomeView[] {
  const pages = check?.pages ?? [];
  return document.pages
    .flatMap(({ changes }) => changes)
    .flatMap((change) => {
      const checked = pages.flatMap(({ url, viewport, changes }) =>
        changes.flatMap((each) =>
          each.id === change.id && each.outcome ? [{ ...each, url, viewport }] : [],
        ),
      );
      const outcome = (["failed", "not_examined", "proved"] as const).find((each) =>
        checked.some((found) => found.outcome === each),
      );
      if (outcome === undefined) return [];
      const unexamined = checked.filter((found) => found.outcome === "not_examined");
      const accepted = unexamined.every((found) => found.accepted) ? unexamined[0]?.accepted : undefined;
      const isAccepted = outcome === "not_examined" && accepted !== undefined;
      return [
        {
          changeId: change.id,
          name: nameChange(change),
          outcome,
          ...OUTCOMES[outcome],
          ...(isAccepted && { tone: "quiet" as const, title: ACCEPTED[accepted.by] }),
          reasons: groupReasons(unexamined),
          isAccepted,
        },
      ];
    });
}

/** Merges reasons that differ only in the width. */
function groupReasons(unexamined: (CheckedChange & Pick<CheckedPage, "url" | "viewport">)[]) {
  const reasons: OutcomeView["reasons"] = [];
  for (const { reason, url, viewport } of unexamined) {
    const text = reason ?? "The check could not see its effect.";
    const same = reasons.find((each) => each.text === text && each.url === url);
    if (same) same.viewports.push(viewport);
    else reasons.push({ text, url, viewports: [viewport] });
  }
  return reasons;
}
