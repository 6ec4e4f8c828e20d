import { type Failure, fail } from "./errors.ts";
import { formatPath } from "./field-error.ts";

const NESTING_MAX = 200;
/** Far more than anybody sends; what checks a body may spend time and memory on every value of it. */
const VALUES_MAX = 200_000;

/** Only a body with an escape, a large number or that name can hold a flaw. */
const SUSPECT = /\\u|__proto__|\d[eE]\+?\d|\d{309}/;

type Read = { ok: true; value: unknown } | Failure;

/**
 * Reads a request's body as strict UTF-8 JSON, within a cap, refusing what could not be stored or would not survive
 * a round trip: NUL characters, lone surrogates, numbers beyond a double, `__proto__` keys and bottomless nesting.
 *
 * @param maxBytes the body cap in bytes.
 */
export async function readJsonBody(request: Request, maxBytes: number): Promise<Read> {
  const bytes = await readCapped(request, maxBytes);
  if (!bytes)
    return fail(
      "payload_too_large",
      `body: must be at most ${Math.round(maxBytes / 1024).toLocaleString("en")} KiB`,
    );
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return fail("invalid_request", "body: must be UTF-8");
  }
  if (text.trim() === "") return fail("invalid_request", "body: must not be empty");
  const { tooDeep, values } = measure(text);
  if (tooDeep !== undefined)
    return fail(
      "invalid_request",
      `${formatPath(tooDeep, "body")}: is nested deeper than ${NESTING_MAX} levels`,
    );
  if (values > VALUES_MAX)
    return fail("invalid_request", `body: holds more than ${VALUES_MAX.toLocaleString("en")} values`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail("invalid_request", "body: must be valid JSON");
  }
  const flaw = SUSPECT.test(text) ? findFlaw(value) : undefined;
  return flaw
    ? fail("invalid_request", `${formatPath(flaw.path, "body")}: ${flaw.sentence}`)
    : { ok: true, value };
}

/** The body's bytes, or undefined when there are more than `maxBytes`; reading stops there. */
async function readCapped(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** In which field of the body arrays and objects nest too deeply, and how many values there are, by the marks outside strings. */
function measure(text: string): { tooDeep: string[] | undefined; values: number } {
  let depth = 0;
  let values = 1;
  let isInString = false;
  let stringFrom = 0;
  let field: string[] = [];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) {
      isInString = true;
      stringFrom = index;
    } else if (code === 0x3a && depth === 1) field = readKey(text.slice(stringFrom, index));
    else if (code === 0x2c) values++;
    else if (code === 0x7b || code === 0x5b) {
      values++;
      if (++depth > NESTING_MAX) return { tooDeep: field, values };
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return { tooDeep: undefined, values };
}

/** A key as the text has it before its colon; none where that is no JSON, as will be said. */
function readKey(text: string): string[] {
  try {
    return [String(JSON.parse(text))];
  } catch {
    return [];
  }
}

type Flaw = { path: PropertyKey[]; sentence: string };

/** The first value or key that no database column can hold as it was sent. */
function findFlaw(value: unknown): Flaw | undefined {
  if (typeof value === "string") return findTextFlaw(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : { path: [], sentence: "is too large a number" };
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const flaw = (typeof key === "string" ? findKeyFlaw(key) : undefined) ?? findFlaw(item);
    if (flaw) return { ...flaw, path: [key, ...flaw.path] };
  }
  return undefined;
}

const findKeyFlaw = (key: string): Flaw | undefined =>
  key === "__proto__" ? { path: [], sentence: "is not an allowed key" } : findTextFlaw(key);

function findTextFlaw(text: string): Flaw | undefined {
  if (text.includes("\0")) return { path: [], sentence: "must not contain NUL characters" };
  if (text.isWellFormed()) return undefined;
  return { path: [], sentence: "must be well-formed Unicode (it holds a lone surrogate)" };
}
