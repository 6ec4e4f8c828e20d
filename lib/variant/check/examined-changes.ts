import type { ExaminedChange } from "#lib/injected/check/examined-change.ts";
import { compileHtml } from "../compile/compile-html.ts";
import type { Change, VariantPage } from "../document.ts";

/**
 * Lists the changes of these pages. Leaves out changes that are off.
 *
 * @throws Error if the HTML of a change is invalid.
 */
export const listExaminedChanges = (pages: VariantPage[]): ExaminedChange[] =>
  pages.flatMap(({ changes }) => changes.filter(({ off }) => off !== true).map(toExamined));

function toExamined({ note: _note, late: _late, off: _off, ...change }: Change): ExaminedChange {
  if (!("html" in change)) return change;
  const { html, ...others } = change;
  const compiled = compileHtml(html);
  if ("problem" in compiled) throw new Error(`${change.id}: ${compiled.problem}`);
  return { ...others, nodes: compiled.nodes };
}
