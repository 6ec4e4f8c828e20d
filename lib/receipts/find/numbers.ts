/** A number of a text. `start` and `end` are the offsets of its digits. */
export type NumberPlace = { value: number; start: number; end: number };

/** Digits with separators between them. Spaces and apostrophes separate groups of three digits only. */
const DIGITS = /\d+(?:[.,'](?=\d)\d+| \d{3}(?!\d))*/g;
const GROUPED = /^\d{1,3}(?:([.,' ])\d{3})(?:\1\d{3})*$/;
const INDIAN = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;

const SCALES: [RegExp, number][] = [
  [/^ ?(?:k|thousand|tsd\.?|mil(?!li|a|e|\w))(?![a-z])/, 1e3],
  [/^ ?(?:m|mn|mio\.?|million(?:s|en)?|millones|milioni|miljoen)(?![a-z])/, 1e6],
  [/^ ?(?:b|bn|billions?|mrd\.?|milliarden?|milliards?)(?![a-z])/, 1e9],
];

/** Finds the numbers of a simplified text, in all readings: `1.234` is 1.234 and 1234. */
export function* findNumbers(search: string): Generator<NumberPlace> {
  for (const match of search.matchAll(DIGITS)) {
    const [text] = match;
    const start = match.index;
    const end = start + text.length;
    // The digits of `SKU1234` are no number, those of `EUR1234` are.
    if (
      /[a-z_]$/.test(search.slice(Math.max(0, start - 1), start)) &&
      !/(?:^|[^a-z])(?:usd|eur|gbp|chf|us\$|rs|kr|zl)$/.test(search.slice(Math.max(0, start - 5), start))
    )
      continue;
    const readings = readDigits(text);
    const scale = SCALES.find(([words]) => words.test(search.slice(end, end + 12)))?.[1];
    for (const value of readings) {
      yield { value, start, end };
      if (scale !== undefined) yield { value: Number((value * scale).toPrecision(12)), start, end };
    }
    // The parts count as well: `12 345` may be two numbers, and `2026.03.01` has a year.
    if (
      /[^\d]/.test(text) &&
      (readings.length === 0 ||
        text.includes(" ") ||
        (/\d,\d/.test(text) && /\.\d/.test(text) && !isWellFormed(text)))
    )
      for (const part of text.matchAll(readings.length === 0 ? /\d+/g : /\d+(?:\.\d+)?/g))
        yield { value: Number(part[0]), start: start + part.index, end: start + part.index + part[0].length };
  }
}

const isWellFormed = (text: string): boolean =>
  /^\d{1,3}(?:([.,' ])\d{3})*(?:[.,]\d+)?$/.test(text) || INDIAN.test(text);

/** Returns what a text of digits and separators may mean. */
function readDigits(text: string): number[] {
  if (/^\d+$/.test(text)) return text.length > 17 ? [] : [Number(text)];
  const readings = new Set<number>();
  if (INDIAN.test(text)) readings.add(Number(text.replaceAll(",", "")));
  if (GROUPED.test(text)) readings.add(Number(text.replace(/[.,' ]/g, "")));
  const decimal = /^(.*)([.,])(\d+)$/.exec(text);
  if (decimal) {
    const [, whole = "", mark = "", fraction = ""] = decimal;
    const isBare = /^\d+$/.test(whole);
    const group = GROUPED.exec(whole)?.[1];
    if (isBare || (group !== undefined && group !== mark))
      readings.add(Number(`${whole.replace(/[.,' ]/g, "")}.${fraction}`));
  }
  return [...readings];
}

const CURRENCIES: Record<string, string> = {
  "€": "eur",
  eur: "eur",
  euro: "eur",
  euros: "eur",
  $: "usd",
  usd: "usd",
  us$: "usd",
  dollar: "usd",
  dollars: "usd",
  "£": "gbp",
  gbp: "gbp",
  "¥": "jpy",
  jpy: "jpy",
  yen: "jpy",
  円: "jpy",
  元: "cny",
  cny: "cny",
  chf: "chf",
  "fr.": "chf",
  zł: "pln",
  pln: "pln",
  "₹": "inr",
  inr: "inr",
  "rs.": "inr",
  kr: "kr",
  "kr.": "kr",
  sek: "kr",
  nok: "kr",
  dkk: "kr",
  r$: "brl",
  brl: "brl",
  kč: "czk",
  czk: "czk",
  "₽": "rub",
  "₺": "try",
  "₩": "krw",
};
const UNITS: Record<string, string> = {
  "%": "%",
  percent: "%",
  prozent: "%",
  kg: "kg",
  kilogram: "kg",
  kilograms: "kg",
  g: "g",
  gram: "g",
  grams: "g",
  mg: "mg",
  km: "km",
  m: "m",
  cm: "cm",
  mm: "mm",
  l: "l",
  ml: "ml",
  liter: "l",
  litre: "l",
  "°c": "c",
  "°f": "f",
  gb: "gb",
  mb: "mb",
  tb: "tb",
  kb: "kb",
  h: "h",
  min: "min",
  s: "s",
  ms: "ms",
  w: "w",
  kw: "kw",
  kwh: "kwh",
  v: "v",
  in: "in",
  ft: "ft",
  lb: "lb",
  oz: "oz",
  "m²": "m2",
  m2: "m2",
  sqm: "m2",
};
const NAMES = { ...CURRENCIES, ...UNITS };
const BEFORE = /(us\$|r\$|[€$£¥₹₽₺₩]|fr\.|rs\.|kr\.?|[a-zł]{2,7})\s?$/;
const AFTER = /^\s?(us\$|[€$£¥₹₽₺₩円元%]|°[cf]|fr\.|kr\.|m²|kč|zł|[a-z]{1,9}\d?)/;

/** A text that is one number, with its currency or unit. */
export type Quantity = { values: number[]; unit: string | undefined };

/** Reads a simplified text that consists of one number, perhaps with a sign, a currency or a unit. */
export function readQuantity(text: string): Quantity | undefined {
  const match = /^([^\d]{0,8}?)(-?)\s?(\d[\d.,' ]*\d|\d)(?:,-|\.-)?\s?([^\d]{0,10}|m2)$/.exec(text.trim());
  if (!match) return undefined;
  const [, before = "", sign = "", digits = "", after = ""] = match;
  const words = [before.trim(), after.trim()].filter((word) => word !== "" && word !== "+" && word !== "-");
  const units = words.map((word) => NAMES[word]);
  if (units.length > 1 || units.some((unit) => unit === undefined)) return undefined;
  const isNegative = sign === "-" || before.trim() === "-";
  const values = readDigits(digits).map((value) => (isNegative ? -value : value));
  return values.length > 0 ? { values, unit: units[0] } : undefined;
}

/** Whether a number of a text may have this unit: the text names the same unit next to it, or none. */
export function mayHaveUnit(search: string, place: NumberPlace, unit: string): boolean {
  const before = BEFORE.exec(search.slice(Math.max(0, place.start - 8), place.start))?.[1];
  const after = AFTER.exec(search.slice(place.end, place.end + 10).replace(/^,-|^\.-/, ""))?.[1];
  const named = [before, after].flatMap((word) => {
    const known = word === undefined ? undefined : NAMES[word];
    return known === undefined ? [] : [known];
  });
  const isCurrency = Object.values(CURRENCIES).includes(unit);
  const alike = named.filter((other) => Object.values(CURRENCIES).includes(other) === isCurrency);
  return alike.length === 0 || alike.includes(unit);
}
