import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { describeChange } from "#lib/variant/describe-change.ts";
import type { VariantChange, VariantPage } from "../state/view-types.ts";
import { formatAddress } from "./format.ts";

export { describeChange };

const NAMED_SELECTOR_CHARACTERS_MAX = 80;

/** Names a change in a few words, such as `Text of #pay`. The labels of the buttons for the change contain the name. */
export function nameChange(change: VariantChange): string {
  const { selector } = change;
  return `${describeChange(change).verb} ${shorten(selector, NAMED_SELECTOR_CHARACTERS_MAX)}`;
}

const MATCHES: Record<VariantPage["match"], string> = {
  exact: "Only this address",
  path: "This address with any query",
  prefix: "Addresses that begin with this",
  glob: "Addresses that match this pattern",
};

const TIMES: Record<string, string> = {
  now: "applied as soon as their elements exist",
  load: "applied when the page has loaded",
  idle: "applied when the page is idle",
};

const EXCLUDED_MAX = 3;

/** Describes the addresses to which the changes of a page of the variant apply, and when they are applied. */
export function describeEntry({
  match,
  exclude = [],
  when,
}: Pick<VariantPage, "match" | "exclude" | "when">): string {
  const shown = exclude.slice(0, EXCLUDED_MAX).map(({ url }) => formatAddress(url));
  const more = exclude.length > EXCLUDED_MAX ? ` and ${exclude.length - EXCLUDED_MAX} more` : "";
  return [
    MATCHES[match],
    ...(exclude.length > 0 ? [`except ${shown.join(", ")}${more}`] : []),
    ...(when === undefined ? [] : [TIMES[when] ?? `applied when ${when} exists`]),
  ].join(", ");
}

/** Formats a number of changes: `1 change`, `3 changes`. */
export const formatChangeCount = (count: number): string => countOf(count, "change");
