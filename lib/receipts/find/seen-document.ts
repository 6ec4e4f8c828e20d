import { decodeEntities } from "#lib/tools/workspace/fetch/decode-entities.ts";

/** Stands between the pieces of a line that the page shows apart, such as the cells of a row. */
export const PIECE_END = "\u001f";

/** A part of a document: a line, or what contains lines, such as a list, an entry, an object. */
export type DocumentNode = {
  start: number;
  end: number;
  parent: DocumentNode | undefined;
  children: DocumentNode[];
  /** Number of pieces of a line; 0 for a node that contains lines. */
  pieces: number;
};

/**
 * A text to search. `search` has the characters of `display` in their simplest form, each at the same offset: lower
 * case, plain quotes, dashes and spaces. Lines end with a line break, pieces of a line with {@link PIECE_END}.
 */
export type SeenDocument = { display: string; search: string; root: DocumentNode };

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e]/g;
const ENTITY = /&(?:#\d|#x[\da-f]|[a-z]{2,8};)/i;

/** Cleans a piece of text: references, white space, invisible characters. */
export function cleanPiece(text: string): string {
  const decoded = ENTITY.test(text) ? decodeEntities(text) : text;
  return decoded
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

const PLAIN: Record<string, string> = {
  "‘": "'",
  "’": "'",
  "‚": "'",
  "‛": "'",
  "′": "'",
  "`": "'",
  "´": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "«": '"',
  "»": '"',
  "″": '"',
  "‐": "-",
  "‑": "-",
  "‒": "-",
  "–": "-",
  "—": "-",
  "―": "-",
  "−": "-",
};
const UNUSUAL = /[‘’‚‛′`´“”„«»″‐‑‒–—―−\u00a0\u2000-\u200a\u202f\u205f\u3000\uff10-\uff19]/g;

/** Returns a text in its simplest form, with the same length. */
export function simplify(text: string): string {
  const plain = text.replace(UNUSUAL, (char) => {
    const code = char.charCodeAt(0);
    if (code >= 0xff10 && code <= 0xff19) return String(code - 0xff10);
    return PLAIN[char] ?? " ";
  });
  const lower = plain.toLowerCase();
  if (lower.length === plain.length) return lower;
  // Few letters have a lower case of another length; they stay as they are.
  return plain.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

/** Builds a document line by line. */
export function createDocumentBuilder() {
  const root: DocumentNode = { start: 0, end: 0, parent: undefined, children: [], pieces: 0 };
  const lines: string[] = [];
  let at = 0;
  let current = root;

  return {
    /** Opens a node that contains the lines until it is closed. */
    open() {
      const node: DocumentNode = { start: at, end: at, parent: current, children: [], pieces: 0 };
      current.children.push(node);
      current = node;
    },
    close() {
      current.end = at;
      current = current.parent ?? root;
    },
    /** Adds a line. Empty pieces are left out. */
    line(pieces: string[]) {
      const kept = pieces.map(cleanPiece).filter((piece) => piece !== "");
      if (kept.length === 0) return;
      const text = kept.join(PIECE_END);
      lines.push(text);
      current.children.push({
        start: at,
        end: at + text.length,
        parent: current,
        children: [],
        pieces: kept.length,
      });
      at += text.length + 1;
    },
    finish(): SeenDocument {
      root.end = at;
      collapse(root);
      const display = lines.join("\n");
      return { display, search: simplify(display), root };
    },
  };
}

export type DocumentBuilder = ReturnType<typeof createDocumentBuilder>;

/** Removes empty nodes, and replaces a node that contains only one node by that node. Iterative, because pages nest deeply. */
function collapse(root: DocumentNode): void {
  const order: DocumentNode[] = [root];
  for (let index = 0; index < order.length; index++) order.push(...(order[index]?.children ?? []));
  for (const node of order.reverse()) {
    node.children = node.children.flatMap((child) => {
      if (child.pieces > 0) return [child];
      if (child.children.length === 0) return [];
      const [only] = child.children;
      return child.children.length === 1 && only ? [only] : [child];
    });
    for (const child of node.children) child.parent = node;
  }
}
