/** One element as a page query reports it; every field but the role is what the page says, or empty. */
export type PageElement = {
  role: string;
  name: string;
  text: string;
  selector: string;
  value?: string;
  required?: boolean;
  /** The element's name in the page's source. */
  tag?: string;
  /** The frame that the element lives in, where it is not the page itself. */
  frame?: string;
};

/** What one tool result says about a page. */
export type PageReading = { url?: string; title?: string; elements: PageElement[]; isCut: boolean };

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "");

function readElement(value: unknown): PageElement | undefined {
  if (!isFields(value)) return undefined;
  const name = textOf(value.name) || textOf(value.label);
  const role = textOf(value.role) || textOf(value.tag);
  if (role === "" && name === "" && textOf(value.text) === "") return undefined;
  return {
    role,
    name,
    text: textOf(value.text),
    selector: textOf(value.selector),
    ...(typeof value.value === "string" ? { value: textOf(value.value) } : {}),
    ...(typeof value.required === "boolean" ? { required: value.required } : {}),
    ...(typeof value.tag === "string" ? { tag: value.tag } : {}),
    ...(typeof value.frame === "string" && value.frame !== "main" ? { frame: value.frame } : {}),
  };
}

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

/** The whole elements of a result that was cut short; the one that the cut went through is left out. */
function recoverElements(text: string): unknown[] {
  const found: unknown[] = [];
  for (const { index } of text.matchAll(/\{"(?:role|tag|name)"/g)) {
    const end = findJsonEnd(text.slice(0, index + 10_000), index);
    if (end !== -1) found.push(parse(text.slice(index, end)));
  }
  return found;
}

/** The nearest object that says where the page is, at most three levels down. */
function findPage(value: unknown, depth = 0): Fields | undefined {
  if (!isFields(value) || depth > 3) return undefined;
  if (typeof value.url === "string" || Array.isArray(value.elements)) return value;
  for (const inner of Object.values(value)) {
    const found = findPage(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const readLine = (text: string, name: string) =>
  text.match(new RegExp(`"?${name}"?\\s*:\\s*"?([^"\\n]+)`, "i"))?.[1]?.trim();

/**
 * Reads a page's address, title and elements from the text of a tool result: JSON, JSON with words around it, or JSON that
 * was cut short (then `isCut`). Never throws; a text that says nothing about a page gives a reading without elements.
 */
export function readPage(text: string): PageReading {
  const json = findJson(text);
  const page = Array.isArray(json) ? { elements: json } : findPage(json);
  const isCut = page === undefined && /"elements"\s*:/.test(text);
  const listed = isCut ? recoverElements(text) : page?.elements;
  const url = textOf(page?.url) || (isCut ? readLine(text, "url") : undefined);
  const title = textOf(page?.title) || (isCut ? readLine(text, "title") : undefined);
  return {
    ...(url ? { url } : {}),
    ...(title ? { title } : {}),
    elements: (Array.isArray(listed) ? listed : [])
      .map(readElement)
      .filter((element) => element !== undefined),
    isCut,
  };
}
