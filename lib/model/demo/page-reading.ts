/** One element as a page query reports it; every field but the role is what the page says, or empty. */
export type PageElement = {
  role: string;
  name: string;
  text: string;
  selector: string;
  value?: string;
  required?: boolean;
  /** The class attribute, where the query asked for it. */
  classes?: string;
  /** The frame that the element lives in, where it is not the page itself. */
  frame?: string;
};

/** What one tool result says about a page. */
export type PageReading = { url?: string; title?: string; elements: PageElement[]; isCut: boolean };

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "");

/** End of the JSON value that begins at `start`, or -1 when the text ends first. */
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

/** The first JSON object or list in a text that may have other words around it. */
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

/** The nearest object that says where the page is, at most three levels down. */
function findPage(value: unknown, depth = 0): Fields | undefined {
  if (!isFields(value) || depth > 3) return undefined;
  if (typeof value.url === "string") return value;
  for (const inner of Object.values(value)) {
    const found = findPage(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The head of an answer of `dom_query`, within the marks: title and address. */
const HEAD = /<data-\w+>\n("(?:[^"\\]|\\.)*") (\S+)\n/;
const ELEMENT =
  /^([a-z][a-z0-9-]*)(?: \d)?(?: ("(?:[^"\\]|\\.)*"))?(?: \[\w+\])?(.*) selector ("(?:[^"\\]|\\.)*")(.*) box -?\d/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** The text of a JSON string, its white space collapsed; empty where it is none. */
export const unquote = (quoted: string | undefined) => (quoted === undefined ? "" : textOf(parse(quoted)));

/** One line of `dom_query`: role, name, ref, states, and the selector. */
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

/** The data in a tool result, without the two marks around it and the words outside; the whole text where there are none. */
export const readData = (text: string): string => text.match(/<(data-\w+)>\n([\s\S]*)\n<\/\1>/)?.[2] ?? text;

/** Whether a tool result shows only a part of what the tool found. */
export const isShortened = (text: string): boolean =>
  /^\d+ elements? match\w*, the first \d+ shown|characters left out; read on with/m.test(text);

/**
 * Reads a page's address, title and elements from the text of a tool result: the lines of `dom_query`, or JSON that may
 * have words around it. Never throws; a text that says nothing about a page gives a reading without elements.
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
