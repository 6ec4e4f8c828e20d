import type { Change, Position } from "./document.ts";

/**
 * The words that describe a change, without its selector. With the selector, they form a text such as `Text of #pay →
 * “Pay now”` or `Moved .summary before #total`.
 */
type ChangeWords = {
  /** The words before the selector, such as `Text of`. */
  verb: string;
  /** The words between the selector and `target`, such as `before`. Null if the change is not a move. */
  place: string | null;
  /** Selector of the element that a move is relative to. Null if the change is not a move. */
  target: string | null;
  /** The new value. Null if the change has none. `isCode` is true for HTML and styles. */
  value: { text: string; isCode: boolean } | null;
};

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

/** Describes a change of a page in words. */
export function describeChange(change: Change): ChangeWords {
  switch (change.op) {
    case "setText":
      return words("Text of", { text: change.text, isCode: false });
    case "setHtml":
      return words("Content of", { text: change.html, isCode: true });
    case "setAttribute":
      return words(`Attribute ${change.name} of`, { text: change.value, isCode: false });
    case "removeAttribute":
      return words(`Removed attribute ${change.name} from`);
    case "addClass":
      return words(`Added class ${change.className} to`);
    case "removeClass":
      return words(`Removed class ${change.className} from`);
    case "setStyle":
      return words("Style of", { text: formatStyle(change.style), isCode: true });
    case "insert":
      return words(INSERTED[change.position], { text: change.html, isCode: true });
    case "move":
      return { verb: "Moved", place: MOVED[change.position], target: change.target, value: null };
    case "remove":
      return words("Removed");
  }
}

const words = (verb: string, value: ChangeWords["value"] = null): ChangeWords => ({
  verb,
  place: null,
  target: null,
  value,
});

const formatStyle = (style: Record<string, string>): string =>
  Object.entries(style)
    .map(([property, value]) => `${property}: ${value};`)
    .join("\n");
