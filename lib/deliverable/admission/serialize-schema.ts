/** Size limit of a schema's JSON. Source: specification, Structured sessions, Schema rules, rule 2. */
const SCHEMA_BYTES_MAX = 65_536;

type SerializedSchema = { ok: true; text: string } | { ok: false; error: string };

/**
 * Serializes a caller's schema, and makes the checks that need no compiling: the root must have the type `object`, and
 * the text may have at most 64 KiB. Source: specification, Structured sessions, Schema rules, 1 and 2.
 *
 * @param options.isAnyRoot whether the root may have any type, as schemas of tool servers may.
 * @returns the text, or an error sentence. The sentence does not contain the name of the request's field,
 * `outputSchema`.
 */
export function serializeSchema(schema: unknown, { isAnyRoot = false } = {}): SerializedSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return { ok: false, error: "must be a JSON Schema object" };
  if (!isAnyRoot && (!("type" in schema) || schema.type !== "object"))
    return { ok: false, error: 'the root must be an object schema (its "type" must be "object")' };
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch {
    return { ok: false, error: "is nested too deeply, or is no JSON" };
  }
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > SCHEMA_BYTES_MAX)
    return { ok: false, error: `must be at most 64 KiB serialized, and has ${bytes} bytes` };
  return { ok: true, text };
}
