import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { describeChange } from "#lib/variant/describe-change.ts";
import type { VariantChange, VariantPage } from "../state/view-types.ts";

export { describeChange };

const NAMED_SELECTOR_CHARACTERS_MAX = 80;

/** Names a change in a few words, such as `Text of #pay`. The labels of the buttons for the change contain the name. */
export function nameChange(change: VariantChange): string {
  const { selector } = change;
  return `${describeChange(change).verb} ${shorten(selector, NAMED_SELECTOR_CHARACTERS_MAX)}`;
}

/** Describes the addresses to which the changes of a page of the variant apply. */
export function describeMatch(match: VariantPage["match"]): string {
  switch (match) {
    case "exact":
      return "Only this address";
    case "path":
      return "This address with any query";
    case "prefix":
      return "Addresses that begin with this";
    case "glob":
      return "Addresses that match this pattern";
  }
}

/** Formats a number of changes: `1 change`, `3 changes`. */
export const formatChangeCount = (count: number): string => countOf(count, "change");
