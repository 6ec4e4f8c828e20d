import type { Change, Position } from "#lib/variant/document.ts";
import { element, escapeHtml } from "./escape.ts";

const INSERTED: Record<Position, string> = {
  before: "Inserted before",
  start: "Inserted at the start of",
  end: "Inserted at the end of",
  after: "Inserted after",
};
const MOVED: Record<Position, string> = {
  before: "before",
  start: "to the start of",
  end: "to the end of",
  after: "after",
};

const code = (text: string) => element("code", escapeHtml(text));
const block = (text: string) => element("pre", escapeHtml(text));

/** A change of a page in words, as HTML. */
export function describeChange(change: Change): string {
  const note = change.note === undefined ? "" : `<div class="soft">${escapeHtml(change.note)}</div>`;
  const off = change.off ? ' <span class="soft">(off)</span>' : "";
  return `${describeOperation(change, code(change.selector))}${off}${note}`;
}

function describeOperation(change: Change, target: string): string {
  switch (change.op) {
    case "setText":
      return `Text of ${target} → “${escapeHtml(change.text)}”`;
    case "setHtml":
      return `Content of ${target}${block(change.html)}`;
    case "setAttribute":
      return `Attribute ${code(change.name)} of ${target} → “${escapeHtml(change.value)}”`;
    case "removeAttribute":
      return `Removed attribute ${code(change.name)} from ${target}`;
    case "addClass":
      return `Added class ${code(change.className)} to ${target}`;
    case "removeClass":
      return `Removed class ${code(change.className)} from ${target}`;
    case "setStyle":
      return `Style of ${target}${block(formatStyle(change.style))}`;
    case "insert":
      return `${INSERTED[change.position]} ${target}${block(change.html)}`;
    case "move":
      return `Moved ${target} ${MOVED[change.position]} ${code(change.target)}`;
    case "remove":
      return `Removed ${target}`;
  }
}

const formatStyle = (style: Record<string, string>): string =>
  Object.entries(style)
    .map(([property, value]) => `${property}: ${value};`)
    .join("\n");
