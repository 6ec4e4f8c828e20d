/**
 * An element as a query of the page reports it. All fields except the role contain data from the page, or are empty.
 */
export type PageElement = {
  role: string;
  name: string;
  text: string;
  selector: string;
  value?: string;
  required?: boolean;
  /** The class attribute, if the query asked for it. */
  classes?: string;
  /** The frame that contains the element; undefined for elements of the page itself. */
  frame?: string;
};

/** The page data in one tool result. */
export type PageReading = { url?: string; title?: string; elements: PageElement[]; isCut: boolean };

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "");

/** Returns the end of the JSON value that begins at `start`, or -1 if the text ends first. */
function findJsonEnd(text: string, start: number): number {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isString) {
      if (character === "\\") at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds the first JSON object or list in a text. */
export function findJson(text: string): unknown {
  let tries = 0;
  for (const match of text.matchAll(/[{[]/g)) {
    tries += 1;
    if (tries > 20) return undefined;
    const end = findJsonEnd(text, match.index);
    if (end === -1) continue;
    const value = parse(text.slice(match.index, end));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Finds the first object with a `url`, at most three levels deep. An object comes before the objects inside it. */
function findPage(value: unknown, depth = 0): Fields | undefined {
  if (!isFields(value) || depth > 3) return undefined;
  if (typeof value.url === "string") return value;
  for (const inner of Object.values(value)) {
    const found = findPage(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Matches the first data line in a result of `dom_query`: the page's title and address. */
const HEAD = /<data-\w+>\n("(?:[^"\\]|\\.)*") (\S+)\n/;
const ELEMENT =
  /^([a-z][a-z0-9-]*)(?: \d)?(?: ("(?:[^"\\]|\\.)*"))?(?: \[\w+\])?(.*) selector ("(?:[^"\\]|\\.)*")(.*) box -?\d/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** Returns the text of a JSON string with collapsed white space; an empty text for anything but a JSON string. */
export const unquote = (quoted: string | undefined) => (quoted === undefined ? "" : textOf(parse(quoted)));

/**
 * Reads an element from a line in a result of `dom_query`. The line contains the role, name, ref, states and selector
 * of the element. Returns undefined for any other line.
 */
function readElementLine(line: string): PageElement | undefined {
  if (line.length > 5_000) return undefined;
  const [, role = "", name, states = "", selector, place = ""] = ELEMENT.exec(line) ?? [];
  if (role === "") return undefined;
  const field = (key: string, fields: string) =>
    new RegExp(` ${key} ("(?:[^"\\\\]|\\\\.)*")`).exec(fields)?.[1];
  const value = field("value", states);
  const frame = field("frame", place);
  const classes = field("class", states);
  return {
    role,
    name: unquote(name),
    text: unquote(field("text", states)),
    selector: unquote(selector),
    ...(value === undefined ? {} : { value: unquote(value) }),
    required: / required\b/.test(states.replace(QUOTED, "")),
    ...(classes === undefined ? {} : { classes: unquote(classes) }),
    ...(frame === undefined ? {} : { frame: unquote(frame) }),
  };
}

/** Returns the data between the two `<data-…>` tags in a tool result; the whole text if there are no such tags. */
export const readData = (text: string): string => text.match(/<(data-\w+)>\n([\s\S]*)\n<\/\1>/)?.[2] ?? text;

/** Whether a tool result is incomplete: it lists only the first elements, or it was cut. */
export const isShortened = (text: string): boolean =>
  /^\d+ elements? match\w*, the first \d+ shown|characters left out; read on with/m.test(text);

/**
 * Reads a page's address, title and elements from a tool result: the lines of `dom_query`, or a text that contains
 * JSON. Never throws; a text without page data gives a reading without elements.
 */
export function readPage(text: string): PageReading {
  const head = HEAD.exec(text);
  if (head) {
    return {
      url: textOf(head[2]),
      title: unquote(head[1]),
      elements: text.split("\n").flatMap((line) => readElementLine(line) ?? []),
      isCut: isShortened(text),
    };
  }
  const page = findPage(findJson(text));
  const [url, title] = [textOf(page?.url), textOf(page?.title)];
  return { ...(url ? { url } : {}), ...(title ? { title } : {}), elements: [], isCut: false };
}
