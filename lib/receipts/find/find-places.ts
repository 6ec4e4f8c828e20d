import { type DateValue, hasTimeNear, readDate } from "./dates.ts";
import { mayHaveUnit, type Quantity, readQuantity } from "./numbers.ts";
import { readWords, type SearchIndex } from "./search-index.ts";
import { cleanPiece, simplify } from "./seen-document.ts";

/** A range of a document at which a value is. */
export type Place = { start: number; end: number };

/** A value in all the forms in which it is looked for. */
export type Needle = {
  /** The value in its simplest form. */
  text: string;
  /** Its words, with a space before and after. */
  words: string;
  quantity: Quantity | undefined;
  isNumber: boolean;
  date: DateValue | undefined;
  /** Digits of a telephone number. */
  digits: string | undefined;
  /** Other forms of an address. */
  addresses: string[];
};

/** Maximum number of places of a value in one document. Further ones change nothing. */
const PLACES_MAX = 60;
const TELEPHONE = /^\+?[\d\s()./-]{7,24}$/;

/** Prepares a value for the search. */
export function makeNeedle(value: string | number): Needle {
  const text = simplify(cleanPiece(String(value)));
  const isNumber = typeof value === "number";
  const digits = !isNumber && TELEPHONE.test(text) ? text.replace(/\D/g, "") : "";
  return {
    text,
    words: readWords(text).text,
    quantity: isNumber ? { values: [value], unit: undefined } : readQuantity(text),
    isNumber,
    date: isNumber ? undefined : readDate(text),
    digits: digits.length >= 7 ? digits : undefined,
    addresses: isNumber ? [] : formsOfAddress(String(value).trim()),
  };
}

/** Returns the forms of an address in which pages and snapshots show it: without its protocol, and its path. */
function formsOfAddress(value: string): string[] {
  const url = /^https?:\/\//i.test(value) ? URL.parse(value) : null;
  if (!url) return [];
  const path = `${url.pathname}${url.search}${url.hash}`;
  const bare = path.replace(/\/$/, "");
  return [`${url.host}${path}`, `${url.host}${bare}`, ...(bare.length > 3 ? [path, bare] : [])].map(simplify);
}

/** Finds where a value is in a document: exactly, or in another form of writing. */
export function findPlaces(index: SearchIndex, needle: Needle): Place[] {
  const { search } = index.document;
  // The digits of a number may stand for another number in another form, so numbers are compared by value.
  if (needle.isNumber) return findNumber(index, needle);
  const exact = findText(search, needle.text);
  if (exact.length > 0) return exact;
  const others = [findDate(index, needle), findQuantity(index, needle), findDigits(search, needle)].flat();
  if (others.length > 0) return others.slice(0, PLACES_MAX);
  for (const address of needle.addresses) {
    const found = findText(search, address);
    if (found.length > 0) return found;
  }
  return findWords(index, needle.words);
}

function findNumber(index: SearchIndex, { quantity, words }: Needle): Place[] {
  const { search } = index.document;
  const [value = 0] = quantity?.values ?? [];
  const numbers = index.numbers();
  const places = [...(numbers.get(Math.abs(value)) ?? [])];
  if (value < 0)
    return places.filter(({ start }) => /[-(]\D{0,3}$/.test(search.slice(Math.max(0, start - 4), start)));
  if (value > 0 && value <= 10)
    for (const place of numbers.get(Number((value * 100).toPrecision(12))) ?? [])
      if (/^\s?%/.test(search.slice(place.end, place.end + 2))) places.push(place);
  // The page may show the fraction apart: `19` and `99`.
  if (places.length === 0 && !Number.isInteger(value)) return findWords(index, words);
  return places.slice(0, PLACES_MAX);
}

function findQuantity(index: SearchIndex, { quantity }: Needle): Place[] {
  if (!quantity) return [];
  const { search } = index.document;
  const { unit, values } = quantity;
  return values.flatMap((value) =>
    (index.numbers().get(Math.abs(value)) ?? []).filter(
      (place) => unit === undefined || mayHaveUnit(search, place, unit),
    ),
  );
}

function findDate(index: SearchIndex, { date }: Needle): Place[] {
  if (!date) return [];
  const { time } = date;
  const places = date.dates.flatMap((each) => index.dates().get(each) ?? []);
  return time === undefined
    ? places
    : places.filter((place) => hasTimeNear(index.document.search, place, time));
}

function findDigits(search: string, { digits }: Needle): Place[] {
  if (digits === undefined) return [];
  const found: Place[] = [];
  for (const match of search.matchAll(/\+?\(?\d[\d ()./-]{5,22}\d/g)) {
    const own = match[0].replace(/\(0\)/, "").replace(/\D/g, "");
    if (own === digits || match[0].replace(/\D/g, "") === digits)
      found.push({ start: match.index, end: match.index + match[0].length });
  }
  return found;
}

const LETTER = /[\p{L}\p{N}]/u;
/** Scripts that write no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Finds a text that is no part of a longer word or number. */
function findText(search: string, text: string): Place[] {
  const found: Place[] = [];
  if (text === "") return found;
  for (
    let at = search.indexOf(text);
    at !== -1 && found.length < PLACES_MAX;
    at = search.indexOf(text, at + 1)
  ) {
    const end = at + text.length;
    if (!continues(search, at - 1, text[0], -1) && !continues(search, end, text.at(-1), 1))
      found.push({ start: at, end });
  }
  return found;
}

/** Whether a word or number goes on beyond the edge of a match. `step` is the direction away from the match. */
function continues(search: string, at: number, edge = "", step: 1 | -1): boolean {
  const neighbour = search[at] ?? "";
  if (!LETTER.test(edge) || neighbour === "") return false;
  if (LETTER.test(neighbour)) {
    if (UNSPACED.test(edge) || UNSPACED.test(neighbour)) return false;
    // `12kg` has the number 12.
    return !(/\d/.test(edge) && /\p{L}/u.test(neighbour) && step === 1);
  }
  const beyond = search[at + step] ?? "";
  return /\d/.test(edge) && /[.,']/.test(neighbour) && /\d/.test(beyond);
}

function findWords(index: SearchIndex, words: string): Place[] {
  if (words.trim() === "") return [];
  const { text, offsets } = index.words();
  const bare = UNSPACED.test(words) ? words.trim() : words;
  const found: Place[] = [];
  for (let at = text.indexOf(bare); at !== -1 && found.length < PLACES_MAX; at = text.indexOf(bare, at + 1)) {
    const first = bare.startsWith(" ") ? at + 1 : at;
    const last = at + bare.length - (bare.endsWith(" ") ? 2 : 1);
    found.push({ start: offsets[first] ?? 0, end: (offsets[last] ?? 0) + 1 });
  }
  return found;
}
