import { compileHtml } from "../compile/compile-html.ts";
import type { Change, VariantPage } from "../document.ts";
import type { CompiledNode } from "../runtime/runtime-types.ts";

type WithNodes<Each> = Each extends { html: string } ? Omit<Each, "html"> & { nodes: CompiledNode[] } : Each;
type Without<Each, Key extends PropertyKey> = Each extends unknown ? Omit<Each, Key> : never;

/** A change of the document as the check examines it, with its HTML compiled to nodes. */
export type ExaminedChange = WithNodes<Without<Change, "note" | "late" | "off">>;

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
