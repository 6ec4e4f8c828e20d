import { hashBody } from "#lib/session/canonical-json.ts";
import { findJsonFlaw, findSizeFlaw, type JsonFlaw } from "#lib/text/json-flaw.ts";
import type { Operation } from "../../contract/operation.ts";
import { type Failure, fail } from "../errors.ts";
import { formatPath, validate } from "../validate.ts";

/**
 * Only texts that match this pattern can contain a value that the database cannot store unchanged. For all other texts,
 * {@link findJsonFlaw} is skipped.
 */
const SUSPECT = /\\u|__proto__|\d[eE]\+?\d|\d{309}/;

type Parsed = { ok: true; value: unknown } | Failure;

/**
 * A parsed and validated body. `hash` returns the SHA-256 of the JSON value that was sent. Equal values have equal
 * hashes.
 */
export type CheckedBody = { ok: true; value: unknown; hash: () => string } | Failure;

/** Parses a request body. With an operation, also validates it against the operation's schema. */
export function checkBody(
  bytes: Uint8Array,
  operation: Pick<Operation, "body" | "bodyValuesMax"> | undefined,
): CheckedBody {
  const parsed = parseBody(bytes, operation?.bodyValuesMax);
  if (!parsed.ok) return parsed;
  const checked = operation?.body ? validate(operation.body, parsed.value, "body") : parsed;
  return checked.ok ? { ...checked, hash: () => hashBody(parsed.value) } : checked;
}

/**
 * Parses a request body as strict UTF-8 JSON. Refuses values that cannot be stored and read back unchanged (NUL
 * characters, lone surrogates, numbers too large for a double, `__proto__` keys). Also refuses bodies with too many
 * values or with too deep nesting.
 */
function parseBody(bytes: Uint8Array, valuesMax: number | undefined): Parsed {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return fail("invalid_request", "body: must be UTF-8");
  }
  if (text.trim() === "") return fail("invalid_request", "body: must not be empty");
  const tooLarge = findSizeFlaw(text, valuesMax);
  if (tooLarge) return refuse(tooLarge);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail("invalid_request", "body: must be valid JSON");
  }
  const flaw = SUSPECT.test(text) ? findJsonFlaw(value) : undefined;
  return flaw ? refuse(flaw) : { ok: true, value };
}

const refuse = ({ path, sentence }: JsonFlaw): Failure =>
  fail("invalid_request", `${formatPath(path, "body")}: ${sentence}`);
