import { z } from "zod";
import type { JsonSchema } from "#lib/api/openapi/json-schema.ts";

/** A body that is invalid because of a change at `path`: a wrong value, an unknown field, or a missing field. */
export type Malformed = { path: PropertyKey[]; body: unknown };

/** Values of every type, some of them oversized. Most of these values are invalid in most fields. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "x",
  "\u202e",
  [],
  [[]],
  [null],
  {},
  { surprise: 1 },
  { length: 1 },
  "x".repeat(30_000),
  Array(1_100).fill("x"),
  { constructor: {}, toString: 1 },
];

/**
 * Bodies that every operation must refuse, as text or as bytes: invalid JSON of every kind, and valid JSON that no
 * operation accepts, such as a very large number or the key `__proto__`.
 */
export const BROKEN_JSON: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  "",
  " ",
  "\n\t",
  "{",
  "}",
  "[",
  "]",
  "[}",
  '"',
  '"\\"',
  "{]",
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,',
  '{"a":1,}',
  "[1,]",
  "[,1]",
  "{,}",
  '{"a" 1}',
  "{a:1}",
  "{'a':1}",
  '{"a":1 "b":2}',
  "{1:2}",
  "nul",
  "NULL",
  "True",
  "undefined",
  "NaN",
  "Infinity",
  "-Infinity",
  "-",
  "+1",
  "01",
  "-01",
  ".5",
  "1.",
  "1e",
  "1e+",
  "0x10",
  "1_000",
  "--1",
  "1 2",
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":undefined}',
  '{"a":01}',
  '{"a":.5}',
  '{"a":1e}',
  '{"a":1e400}',
  '{"a":-1e999}',
  '"\\x41"',
  '"\\u12"',
  '"\\u{41}"',
  '"\\"',
  '"a\nb"',
  '"a\tb"',
  '"a\u0000b"',
  '"\\u0000"',
  '"\\ud800"',
  '{"\\udfff":1}',
  "// comment\n{}",
  "{} // after",
  "/* c */ {}",
  "{}{}",
  "[] []",
  "{};",
  "<xml/>",
  "a=1&b=2",
  "--boundary\r\n",
  "%7B%7D",
  '{"__proto__":{"admin":true}}',
  '{"metadata":{"__proto__":null}}',
  "\ufeff\ufeff{}",
  "\u00a0{}",
  "\u2028{}",
  "[".repeat(300) + "]".repeat(300),
  '{"a":'.repeat(100_000),
  "[".repeat(500_000),
  `{"a":${"9".repeat(2_000)}}`,
  `[${"0,".repeat(210_000)}0]`,
  `"${"\\u0000".repeat(10)}"`,
  new Uint8Array([0xff]),
  new Uint8Array([0xc0, 0x80]),
  new Uint8Array([0x7b, 0x22, 0xe2, 0x82, 0x22, 0x3a, 0x31, 0x7d]),
  new Uint8Array([0xed, 0xa0, 0x80]),
  new Uint8Array([0xf4, 0x90, 0x80, 0x80]),
  // The next bodies are UTF-16 and UTF-32, with and without a byte order mark, and gzip.
  new Uint8Array(Buffer.from("\ufeff{}", "utf16le")),
  new Uint8Array(Buffer.from('{"messages":[]}', "utf16le")),
  new Uint8Array([0x00, 0x00, 0xfe, 0xff, 0x00, 0x00, 0x00, 0x7b]),
  new Uint8Array([0x1f, 0x8b, 0x08, 0x00, 0x00]),
];

/**
 * Lists bodies that a schema refuses. Each body differs from a valid body in one place: a value is replaced, a field or
 * an item is added, or a field is missing.
 */
export function listMalformed(schema: z.ZodType): Malformed[] {
  const refuses = (body: unknown) => !schema.safeParse(body).success;
  const found = new Map<string, Malformed>();
  for (const body of sampleBodies(schema))
    for (const path of listPaths(body))
      for (const change of changesAt(body, path)) {
        const malformed = { path: change.path, body: change.body };
        const text = JSON.stringify(change.body);
        if (refuses(JSON.parse(text ?? "null")))
          found.set(`${JSON.stringify(change.path)} ${text}`, malformed);
      }
  return [...found.values()];
}

/** Lists valid bodies for each alternative of a schema: the smallest one, and bodies with one further field each. */
export function sampleBodies(schema: z.ZodType): unknown[] {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Named;
  const takes = (body: unknown) => schema.safeParse(body).success;
  const samples: unknown[] = [];
  const whole = resolve(json, json);
  for (const named of whole.anyOf ?? (whole.properties ? undefined : whole.oneOf) ?? [whole]) {
    const choice = resolve(named, json);
    const required = Object.fromEntries(
      (choice.required ?? []).map((name) => [name, sample(choice.properties?.[name] ?? {}, json)]),
    );
    const each = Object.entries(choice.properties ?? {}).map(([name, part]) => ({
      ...required,
      [name]: sample(part, json),
    }));
    const [base] = [required, ...each].filter(takes);
    if (!base) continue;
    samples.push(base, ...each.map((body) => ({ ...base, ...body })).filter(takes), ...each.filter(takes));
  }
  return samples;
}

type Named = JsonSchema & { $defs?: Record<string, JsonSchema> };

const resolve = (schema: JsonSchema, root: Named): JsonSchema =>
  schema.$ref === undefined ? schema : (root.$defs?.[schema.$ref.replace(/^#\/\$defs\//, "")] ?? {});

/**
 * Creates a value of the type that a schema describes, without a check of the schema's other rules. An object has all
 * its fields.
 */
function sample(schema: JsonSchema, root: Named): unknown {
  if (schema.$ref !== undefined) return sample(resolve(schema, root), root);
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, sample(part, root)]),
    );
  if (schema.examples) return schema.examples[0];
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return sample(choice, root);
  switch ([schema.type].flat()[0]) {
    case "array":
      return schema.items ? [sample(schema.items, root)] : [];
    case "object":
      return typeof schema.additionalProperties === "object"
        ? { a: sample(schema.additionalProperties, root) }
        : {};
    case "string":
      return "https://shop.example/";
    case "number":
    case "integer":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    default:
      return { type: "object" };
  }
}

function listPaths(value: unknown, path: PropertyKey[] = []): PropertyKey[][] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [path, ...[...entries].flatMap(([key, item]) => listPaths(item, [...path, key]))];
}

function changesAt(body: unknown, path: PropertyKey[]): Malformed[] {
  const here = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);
  const changes: Malformed[] = ODD_VALUES.map((value) => ({ path, body: replaceAt(body, path, value) }));
  if (Array.isArray(here)) changes.push({ path, body: replaceAt(body, path, [...here, null]) });
  else if (typeof here === "object" && here !== null) {
    for (const extra of ["surprise", "constructor", "", "a b", "\u202e"])
      changes.push({ path: [...path, extra], body: replaceAt(body, path, { ...here, [extra]: 1 }) });
    for (const name of Object.keys(here)) {
      const { [name]: _gone, ...rest } = here as Record<string, unknown>;
      changes.push({ path: [...path, name], body: replaceAt(body, path, rest) });
    }
  }
  return changes;
}

function replaceAt(body: unknown, path: PropertyKey[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const holder = body as Record<PropertyKey, unknown>;
  const replaced = replaceAt(holder[key], rest, value);
  if (Array.isArray(body)) return body.with(Number(key), replaced);
  return { ...holder, [key]: replaced };
}
