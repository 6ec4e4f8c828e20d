import type { z } from "zod";
import { hashBody } from "#lib/session/canonical-json.ts";
import { type Failure, fail } from "../errors.ts";
import { formatPath, validate } from "../validate.ts";

const NESTING_MAX = 200;
/** Maximum number of values in a body, because validation costs time and memory for each value. */
const VALUES_MAX = 200_000;

/**
 * Only texts that match this pattern can contain a value that the database cannot store unchanged. For all other texts,
 * {@link findFlaw} is skipped.
 */
const SUSPECT = /\\u|__proto__|\d[eE]\+?\d|\d{309}/;

type Parsed = { ok: true; value: unknown } | Failure;

/**
 * A parsed and validated body. `hash` returns the SHA-256 of the JSON value that was sent. Equal values have equal
 * hashes.
 */
export type CheckedBody = { ok: true; value: unknown; hash: () => string } | Failure;

/** Parses a request body. With a schema, also validates it. */
export function checkBody(bytes: Uint8Array, schema: z.ZodType | undefined): CheckedBody {
  const parsed = parseBody(bytes);
  if (!parsed.ok) return parsed;
  const checked = schema ? validate(schema, parsed.value, "body") : parsed;
  return checked.ok ? { ...checked, hash: () => hashBody(parsed.value) } : checked;
}

/**
 * Parses a request body as strict UTF-8 JSON. Refuses values that cannot be stored and read back unchanged (NUL
 * characters, lone surrogates, numbers too large for a double, `__proto__` keys). Also refuses bodies with too many
 * values or with nesting deeper than 200 levels.
 */
function parseBody(bytes: Uint8Array): Parsed {
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

/**
 * Scans the text of a body without parsing it. Counts the values; an empty array or object counts as two. If the
 * nesting is too deep, returns the path of the top-level field with the deep nesting.
 */
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

/** Parses the text of a key. Returns an empty path for invalid JSON, because `JSON.parse` reports the error later. */
function readKey(text: string): string[] {
  try {
    return [String(JSON.parse(text))];
  } catch {
    return [];
  }
}

type Flaw = { path: PropertyKey[]; sentence: string };

/** Finds the first value or key that a database column cannot store unchanged. */
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
