import { describeChange as describeInWords } from "#lib/variant/describe-change.ts";
import type { Change } from "#lib/variant/document.ts";
import { element, escapeHtml } from "./escape.ts";

/** Describes a change of a page in words, and renders the description as HTML. */
export function describeChange(change: Change): string {
  const { verb, place, target, value } = describeInWords(change);
  const words = [escapeHtml(verb), element("code", escapeHtml(change.selector))];
  if (place !== null) words.push(escapeHtml(place));
  if (target !== null) words.push(element("code", escapeHtml(target)));
  const shown =
    value === null
      ? ""
      : value.isCode
        ? element("pre", escapeHtml(value.text))
        : ` → “${escapeHtml(value.text)}”`;
  const off = change.off ? ' <span class="soft">(off)</span>' : "";
  const note = change.note === undefined ? "" : `<div class="soft">${escapeHtml(change.note)}</div>`;
  return `${words.join(" ")}${shown}${off}${note}`;
}
