import { type Failure, fail } from "./errors.ts";

const NESTING_MAX = 200;

type Read = { ok: true; value: unknown; text: string } | Failure;

/**
 * Reads a request's body as strict UTF-8 JSON, within a cap, refusing what could not be stored or would not survive
 * a round trip: NUL characters, lone surrogates, `__proto__` keys and bottomless nesting.
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
  if (measureNesting(text) > NESTING_MAX)
    return fail("invalid_request", `body: is nested deeper than ${NESTING_MAX} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail("invalid_request", "body: must be valid JSON");
  }
  const flaw = /\\u|__proto__/.test(text) ? findUnstorable(value, []) : undefined;
  return flaw ? fail("invalid_request", flaw) : { ok: true, value, text };
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

/** Deepest nesting of arrays and objects, by their brackets outside strings. */
function measureNesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/** The first string or key that no database column can hold, as a sentence. */
function findUnstorable(value: unknown, path: (string | number)[]): string | undefined {
  if (typeof value === "string") return describeText(value, path);
  if (typeof value !== "object" || value === null) return undefined;
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value);
  for (const [key, item] of entries) {
    const here = [...path, key];
    if (key === "__proto__") return `${showPath(here)}: is not an allowed key`;
    const flaw =
      (typeof key === "string" ? describeText(key, here) : undefined) ?? findUnstorable(item, here);
    if (flaw) return flaw;
  }
  return undefined;
}

function describeText(text: string, path: (string | number)[]): string | undefined {
  if (text.includes("\0")) return `${showPath(path)}: must not contain NUL characters`;
  return text.isWellFormed()
    ? undefined
    : `${showPath(path)}: must be well-formed Unicode (it holds a lone surrogate)`;
}

const showPath = (path: (string | number)[]) =>
  path.length === 0
    ? "body"
    : path
        .map((key, index) =>
          typeof key === "number"
            ? `[${key}]`
            : `${index ? "." : ""}${key.toWellFormed().replaceAll("\0", "")}`,
        )
        .join("");
