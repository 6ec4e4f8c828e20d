import { type DatePlace, findDates } from "./dates.ts";
import { findNumbers, type NumberPlace } from "./numbers.ts";
import { PIECE_END, type SeenDocument } from "./seen-document.ts";

/** A document with what is looked up in it; each part is made when it is first needed. */
export type SearchIndex = {
  document: SeenDocument;
  numbers: () => Map<number, NumberPlace[]>;
  dates: () => Map<string, DatePlace[]>;
  words: () => Words;
};

/**
 * The words of a text, each with a space before and after it: everything but letters and digits is left out. `offsets`
 * has the offset in the document of each character.
 */
type Words = { text: string; offsets: Uint32Array };

/** Creates the index of a document. */
export function createSearchIndex(document: SeenDocument): SearchIndex {
  const { search } = document;
  return {
    document,
    numbers: once(() => group(findNumbers(search))),
    dates: once(() => group(findDates(search))),
    words: once(() => readWords(search)),
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function group<Key, Place extends { value: Key }>(places: Iterable<Place>): Map<Key, Place[]> {
  const groups = new Map<Key, Place[]>();
  for (const place of places) {
    const known = groups.get(place.value);
    if (known) known.push(place);
    else groups.set(place.value, [place]);
  }
  return groups;
}

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u;

/** Returns the words of a simplified text. */
export function readWords(search: string): Words {
  const kept: string[] = [" "];
  const offsets = new Uint32Array(search.length + 2);
  let length = 1;
  let isSpace = true;
  for (let at = 0; at < search.length; at++) {
    const code = search.charCodeAt(at);
    const isWord =
      (code >= 97 && code <= 122) ||
      (code >= 48 && code <= 57) ||
      // Surrogates belong to a character that counts as a letter here.
      (code > 127 && (code >= 0xd800 && code <= 0xdfff ? true : WORD_CHARACTER.test(search[at] ?? "")));
    if (isWord) {
      kept.push(search[at] ?? "");
      isSpace = false;
    } else if (isSpace) continue;
    else {
      kept.push(" ");
      isSpace = true;
    }
    offsets[length++] = at;
  }
  if (!isSpace) {
    kept.push(" ");
    offsets[length++] = search.length;
  }
  return { text: kept.join(""), offsets: offsets.subarray(0, length) };
}

/** Whether an offset is the end of a line or of a piece of a line. */
export const isPieceEnd = (search: string, at: number): boolean =>
  at < 0 || at >= search.length || search[at] === "\n" || search[at] === PIECE_END;
