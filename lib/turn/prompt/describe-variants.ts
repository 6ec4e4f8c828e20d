import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import type { VariantState } from "#lib/variant/variant-history-store.ts";

/** Maximum number of edits of a variant in the instructions, and of characters of one. They go with every model call. */
const EDITS_SHOWN = 20;
const EDIT_CHARS_MAX = 300;

const READING = "- apply_variant with baseRevision alone shows what a variant has.";
const HIDDEN = "- The live browser shows the page without a variant, until the next apply_variant.";

/**
 * Describes the variants of a session for the instructions, one list item each, with what people have changed since
 * the agent's newest revision. `hasBrowser`: whether to say what the live browser shows.
 */
export function describeVariants(variants: readonly VariantState[], hasBrowser: boolean): string[] {
  if (variants.length === 0) return [];
  if (!hasBrowser) return [...variants.map(describeVariant), READING];
  const shown = variants.find(({ isShown }) => isShown);
  const which = !shown
    ? [HIDDEN]
    : variants.length === 1
      ? []
      : [`- The live browser shows variant ${shown.key}.`];
  return [...variants.map(describeVariant), ...which, READING];
}

function describeVariant({ key, revision, check, edits }: VariantState): string {
  const state = `- Variant ${key} has revision ${revision}, ${check ? `check: ${check.status}` : "not checked"}.`;
  if (!edits || edits.lines.length === 0) return state;
  const lines = edits.lines.slice(0, EDITS_SHOWN).map((line) => shorten(oneLine(line), EDIT_CHARS_MAX));
  const more = edits.lines.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return [
    `${state} A person has changed it since your revision ${edits.since}. Keep what the person decided, unless a person asks for something else.`,
    quoteAsData("the variant", lines.join("\n")),
  ].join("\n");
}
