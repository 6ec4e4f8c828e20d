const LENGTH_MAX = 2_000;
const NEGATED_CANDIDATES = [..."a0 A-_.", "é"];

type Sampler = { text: string; at: number; stretchBy: number };

class Unsupported extends Error {}

/**
 * Builds a text that matches a regular expression; undefined for unsupported syntax (back references, positive
 * look-around), for deeply nested groups, and for a text of more than {@link LENGTH_MAX} characters. Negative
 * look-around is ignored. The function never runs the expression, because a caller's pattern may be hostile. To reach
 * `lengthMin`, it repeats the parts that may repeat. If this is not enough, the text is shorter than `lengthMin`.
 */
export function samplePattern(pattern: string, lengthMin = 0): string | undefined {
  try {
    const plain = sampleWhole({ text: pattern, at: 0, stretchBy: 0 });
    if (plain.length >= lengthMin) return plain;
    const stretched = sampleWhole({ text: pattern, at: 0, stretchBy: lengthMin - plain.length });
    return stretched.length >= lengthMin ? stretched : plain;
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

function sampleWhole(sampler: Sampler): string {
  const sample = sampleChoice(sampler, 0);
  if (sampler.at < sampler.text.length) throw new Unsupported();
  return sample;
}

/** Samples the first alternative and skips the others. */
function sampleChoice(sampler: Sampler, depth: number): string {
  if (depth > 40) throw new Unsupported();
  const first = sampleSequence(sampler, depth);
  while (sampler.text[sampler.at] === "|") {
    sampler.at += 1;
    sampler.at = skipSequence(sampler.text, sampler.at);
  }
  return first;
}

/** Returns the end of the alternative that begins at `at`: the next `|` or `)` on the same level. */
function skipSequence(text: string, at: number): number {
  let depth = 0;
  for (let place = at; place < text.length; place += 1) {
    const character = text[place];
    if (character === "\\") place += 1;
    else if (character === "[") place = skipClass(text, place);
    else if (character === "(") depth += 1;
    else if (character === ")" && depth === 0) return place;
    else if (character === ")") depth -= 1;
    else if (character === "|" && depth === 0) return place;
  }
  return text.length;
}

function skipClass(text: string, at: number): number {
  for (let place = at + 1; place < text.length; place += 1) {
    if (text[place] === "\\") place += 1;
    else if (text[place] === "]" && place > at + 1) return place;
  }
  throw new Unsupported();
}

function sampleSequence(sampler: Sampler, depth: number): string {
  let sample = "";
  while (sampler.at < sampler.text.length && !"|)".includes(sampler.text[sampler.at] ?? "")) {
    const atom = sampleAtom(sampler, depth);
    const { least, most } = readQuantifier(sampler);
    let times = least;
    if (sampler.stretchBy > 0 && atom !== "" && most > least) {
      const more = Math.min(most - least, Math.ceil(sampler.stretchBy / atom.length));
      times += more;
      sampler.stretchBy -= more * atom.length;
    }
    sample += atom.repeat(Math.min(times, LENGTH_MAX));
    if (sample.length > LENGTH_MAX) throw new Unsupported();
  }
  return sample;
}

function readQuantifier(sampler: Sampler): { least: number; most: number } {
  const rest = sampler.text.slice(sampler.at, sampler.at + 24);
  const counted = rest.match(/^\{(\d+)(,(\d*))?\}\??/);
  const mark = rest.match(/^[*+?]\??/)?.[0];
  if (counted) {
    sampler.at += counted[0].length;
    const least = Number(counted[1]);
    const most =
      counted[2] === undefined ? least : counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY;
    return { least, most };
  }
  if (mark === undefined) return { least: 1, most: 1 };
  sampler.at += mark.length;
  const most = mark.startsWith("?") ? 1 : Number.POSITIVE_INFINITY;
  return { least: mark.startsWith("+") ? 1 : 0, most };
}

function sampleAtom(sampler: Sampler, depth: number): string {
  const character = sampler.text[sampler.at] ?? "";
  sampler.at += 1;
  if (character === "^" || character === "$") return "";
  if (character === ".") return "a";
  if (character === "\\") return sampleEscape(sampler);
  if (character === "[") return sampleClass(sampler);
  if (character !== "(") return character;

  const opening = sampler.text.slice(sampler.at).match(/^\?(?:[:!=]|<[!=]|<\w+>)/)?.[0] ?? "";
  sampler.at += opening.length;
  if (/^\?<?=/.test(opening)) throw new Unsupported();
  const isNegative = /^\?<?!/.test(opening);
  const inner = sampleChoice(sampler, depth + 1);
  if (sampler.text[sampler.at] !== ")") throw new Unsupported();
  sampler.at += 1;
  return isNegative ? "" : inner;
}

const escapes: Record<string, string> = {
  d: "1",
  w: "a",
  s: " ",
  D: "a",
  W: "-",
  S: "a",
  b: "",
  B: "",
  t: "\t",
  n: "\n",
  r: "\r",
};

function sampleEscape(sampler: Sampler): string {
  const character = sampler.text[sampler.at] ?? "";
  sampler.at += 1;
  const code = sampler.text
    .slice(sampler.at - 1)
    .match(/^(?:u([\da-f]{4})|u\{([\da-f]{1,6})\}|x([\da-f]{2}))/i);
  if (code) {
    sampler.at += code[0].length - 1;
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? "61", 16);
    if (point > 0x10ffff) throw new Unsupported();
    return String.fromCodePoint(point);
  }
  const property = sampler.text.slice(sampler.at - 1).match(/^p\{(\w+(?:=\w+)?)\}/);
  if (property) {
    sampler.at += property[0].length - 1;
    return /^(N|Nd)$/.test(property[1] ?? "") ? "1" : /^(Lu|Uppercase)/.test(property[1] ?? "") ? "A" : "a";
  }
  if (/[1-9kpP]/.test(character)) throw new Unsupported();
  return escapes[character] ?? character;
}

/**
 * Samples a character class: its first member or, if the class is negated, the first candidate that is not a member.
 */
function sampleClass(sampler: Sampler): string {
  const end = skipClass(sampler.text, sampler.at - 1);
  const isNegated = sampler.text[sampler.at] === "^";
  const inside: Sampler = {
    text: sampler.text.slice(0, end),
    at: sampler.at + (isNegated ? 1 : 0),
    stretchBy: 0,
  };
  const ranges: [string, string][] = [];
  while (inside.at < end) {
    const from = readMember(inside);
    const isRange = inside.text[inside.at] === "-" && inside.at + 1 < end;
    if (isRange) inside.at += 1;
    ranges.push([from, isRange ? readMember(inside) : from]);
  }
  sampler.at = end + 1;
  if (!isNegated) return ranges[0]?.[0] ?? "";
  const outside = NEGATED_CANDIDATES.find(
    (candidate) => !ranges.some(([from, to]) => from <= candidate && candidate <= to),
  );
  if (outside === undefined) throw new Unsupported();
  return outside;
}

function readMember(sampler: Sampler): string {
  const character = sampler.text[sampler.at] ?? "";
  sampler.at += 1;
  return character === "\\" ? sampleEscape(sampler) : character;
}
