import type { VariantChange, VariantPage } from "../state/view-types.ts";

/** A change of a page in words: `Text of #pay → “Pay now”`, `Moved .summary before #total`. */
type ChangeWords = {
  /** Before the selector: `Text of`. */
  verb: string;
  /** After the selector, before `target`: `before`. */
  place: string | null;
  /** Selector of the element that a move is relative to. */
  target: string | null;
  /** The new value. HTML and styles are code. */
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

type Position = Extract<VariantChange, { op: "insert" }>["position"];

/** Describes a change of a page. */
export function describeChange(change: VariantChange): ChangeWords {
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

const NAMED_SELECTOR_CHARACTERS_MAX = 80;

/** Names a change in one line, for the names of its controls: `Text of #pay`. */
export function nameChange(change: VariantChange): string {
  const { selector } = change;
  const isLong = selector.length > NAMED_SELECTOR_CHARACTERS_MAX;
  const shown = isLong ? `${selector.slice(0, NAMED_SELECTOR_CHARACTERS_MAX)}…` : selector;
  return `${describeChange(change).verb} ${shown}`;
}

/** Describes which addresses a page entry applies to. */
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
export const formatChangeCount = (count: number): string => (count === 1 ? "1 change" : `${count} changes`);
