import { type EditRequest, readEditRequest } from "../editing/edit-request.ts";
import type { Edit } from "../editing/read-edit.ts";

/** Maximum number of characters of a plan item. */
const ITEM_CHARACTERS_MAX = 500;
const PRONOUN = /\b(?:it|them|that|this|those|these)\b/i;
const QUOTED = /“[^”]*”/g;

/**
 * Writes the changes of a request as items of a plan. Each sentence is complete without the others, because people
 * reorder, edit and drop items. `leftOut` has the words of the edits for which no complete sentence is possible.
 */
export function writeSentences(request: EditRequest): { sentences: string[]; leftOut: string[] } {
  const sentences: string[] = [];
  const leftOut: string[] = [];
  if (request.undo !== undefined)
    sentences.push(request.undo === "all" ? "Undo all changes" : "Undo the last change");
  for (const edits of groupByWords(request.edits)) {
    const sentence = writeSentence(edits, request);
    if (sentence === undefined) leftOut.push(edits[0]?.words ?? "");
    else sentences.push(sentence);
  }
  return { sentences: [...new Set(sentences)], leftOut };
}

/** Groups the edits of one clause, because a clause can ask for several edits: `hide the notice and the footer`. */
function groupByWords(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const last = groups.at(-1);
    if (last?.[0]?.words === edit.words) last.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

/** Writes a sentence from which the rules read the same changes on the same page; undefined if that is not possible. */
function writeSentence(edits: Edit[], { place, url }: EditRequest): string | undefined {
  const words = resolvePronoun(edits).replace(/[\s.!?]+$/, "");
  const placed = place === undefined ? words : `on the ${place} page, ${words}`;
  const addressed = url === undefined ? placed : `${placed} on ${url}`;
  const sentence = addressed.slice(0, 1).toUpperCase() + addressed.slice(1);
  const read = sentence.length > ITEM_CHARACTERS_MAX ? undefined : readEditRequest(sentence);
  const isSame =
    read?.leftOut.length === 0 &&
    read.place?.toLowerCase() === place?.toLowerCase() &&
    read.url === url &&
    serializeEdits(read.edits) === serializeEdits(edits);
  return isSame ? sentence : undefined;
}

/** Replaces a pronoun with the words for its element, because the meaning of `it` depends on the order of the items. */
function resolvePronoun(edits: Edit[]): string {
  const [{ words, target } = { words: "", target: undefined }] = edits;
  if (target === undefined || words.toLowerCase().includes(target.words.toLowerCase())) return words;
  const quotes: string[] = [];
  const open = words.replace(QUOTED, (quote) => `\uE000${quotes.push(quote) - 1}\uE001`);
  return open
    .replace(PRONOUN, () => target.words)
    .replace(/\uE000(\d+)\uE001/g, (_mark, index: string) => quotes[Number(index)] ?? "");
}

/** Serializes edits without their words, for comparison. */
const serializeEdits = (edits: readonly Edit[]): string =>
  JSON.stringify(
    edits.map(({ words: _words, target: { words: _target, ...target }, ...edit }) => ({ ...edit, target })),
  );

/** Whether two requests are about the same page. */
export const isSamePlace = (one: EditRequest, other: EditRequest): boolean =>
  one.url === other.url && one.place?.toLowerCase() === other.place?.toLowerCase();

/** Joins several requests about one page. */
export function joinRequests(requests: readonly EditRequest[]): EditRequest {
  const joined: EditRequest = { edits: [], leftOut: [] };
  for (const { url, place, undo, edits, leftOut } of requests) {
    if (url !== undefined) joined.url ??= url;
    if (place !== undefined) joined.place ??= place;
    if (undo !== undefined) joined.undo = undo === "all" || joined.undo === "all" ? "all" : "last";
    joined.edits.push(...edits);
    joined.leftOut.push(...leftOut);
  }
  return joined;
}
