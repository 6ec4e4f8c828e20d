import { storableText } from "#db/storable.ts";
import { setOwn } from "#lib/projection/json.ts";
import { isInexact } from "#lib/text/decimal.ts";

/**
 * A number of the model's answer that parsing changed: its place as a JSON pointer, the model's digits, and the parsed
 * number.
 */
export type InexactNumber = { path: string; text: string; parsed: number };

export type ParsedAnswer = { value: unknown; inexact: readonly InexactNumber[] };

/**
 * Matches answers that may contain an inexact number. Only these answers are parsed with access to the original digits,
 * which is slower.
 */
const LARGE_NUMBER = /\d{16}|\d[eE]\+?\d/;

/**
 * Parses a model's answer into a value that the database can store.
 *
 * @returns the value, and the numbers in it that differ from the model's text.
 * @throws SyntaxError for invalid JSON, RangeError for JSON that is nested too deeply.
 */
export function parseAnswer(text: string): ParsedAnswer {
  const inexact: InexactNumber[] = [];
  const convert = (item: unknown, path: string): unknown => {
    if (typeof item === "string") return storableText(item);
    if (item instanceof MarkedNumber) {
      inexact.push({ path, text: item.text, parsed: item.parsed });
      return item.parsed;
    }
    if (Array.isArray(item)) return item.map((each, index) => convert(each, `${path}/${index}`));
    if (typeof item !== "object" || item === null) return item;
    const copy: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(item)) {
      const name = storableText(key);
      setOwn(copy, name, convert(each, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`));
    }
    return copy;
  };
  return { value: convert(parseMarked(text), ""), inexact };
}

class MarkedNumber {
  readonly text: string;
  readonly parsed: number;
  constructor(text: string, parsed: number) {
    this.text = text;
    this.parsed = parsed;
  }
}

function parseMarked(text: string): unknown {
  if (!LARGE_NUMBER.test(text)) return JSON.parse(text);
  const mark = (_: string, value: unknown, context?: { source?: string }): unknown => {
    const source = context?.source;
    const isMarked = typeof value === "number" && source !== undefined && isInexact(source, value);
    return isMarked ? new MarkedNumber(source, value) : value;
  };
  return JSON.parse(text, mark);
}
