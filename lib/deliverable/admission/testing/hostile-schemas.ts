/**
 * A hostile or invalid schema. `refused` matches the error of the 400 response. A schema with `value` is admitted, and
 * `ends` is the outcome of validating `value`: "valid", "invalid", or a pattern that matches the error.
 */
export type HostileSchema = { name: string; schema: unknown } & (
  | { refused: RegExp }
  | { value: unknown; ends: RegExp | "invalid" | "valid" }
);

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const many = <Item>(length: number, item: (index: number) => Item) =>
  Array.from({ length }, (_, index) => item(index));
const root = /^outputSchema: the root must be an object schema/;
const endless = /^outputSchema: (\/\S*\$ref )?refers to itself without end|nested too deeply/;
const noValue = /^outputSchema: no finite value can be valid/;
const tooManyChecks = /^outputSchema: \/\S+ asks for more than 1,000,000 checks of one value$/;
/** Matches the error of a job that exceeded its CPU time or memory limit. */
export const tooMuch = /takes more (than \d+ ms|memory)/;

/** Returns a chain of `levels` definitions, each with two references to the next one. */
function doubling(levels: number, leaf: object) {
  const next = (index: number) => ({ $ref: `#/$defs/d${index + 1}` });
  const $defs = Object.fromEntries(
    many(levels, (index) => [`d${index}`, { allOf: [next(index), next(index)] }]),
  );
  return { type: "object", $ref: "#/$defs/d0", $defs: { ...$defs, [`d${levels}`]: leaf } };
}

/** Returns a schema that is nested `levels` levels deep. */
const nested = (levels: number, open: string, inner: string, close: string) =>
  JSON.parse(`{"type":"object","allOf":[${open.repeat(levels)}${inner}${close.repeat(levels)}]}`);

const circular: Record<string, unknown> = { type: "object" };
circular.properties = { again: circular };

const injections = [
  '"];process.exit(1);//',
  "'];process.exit(1);//",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is to look like a template.
  "`${process.exit(1)}`",
  "*/process.exit(1)/*",
  "\u2028process.exit(1)",
  "\\",
  "__proto__x",
];

export const hostileSchemas: HostileSchema[] = [
  { name: "no schema at all", schema: undefined, refused: /^outputSchema: must be a JSON Schema object$/ },
  { name: "null", schema: null, refused: /^outputSchema: must be/ },
  { name: "a list", schema: [], refused: /^outputSchema: must be/ },
  { name: "a text", schema: '{"type":"object"}', refused: /^outputSchema: must be/ },
  { name: "a boolean schema", schema: true, refused: /^outputSchema: must be/ },
  { name: "an empty schema", schema: {}, refused: root },
  { name: "an array as root", schema: { type: "array" }, refused: root },
  { name: "a list of types as root", schema: { type: ["object"] }, refused: root },
  { name: "an object or null as root", schema: { type: ["object", "null"] }, refused: root },
  {
    name: "a root that is only a reference",
    schema: { $ref: "#/$defs/a", $defs: { a: { type: "object" } } },
    refused: root,
  },
  { name: "a root that is a union", schema: { anyOf: [{ type: "object" }] }, refused: root },
  { name: "a type in capitals", schema: { type: "Object" }, refused: root },
  {
    name: "one byte over 64 KiB",
    schema: { type: "object", description: "x".repeat(65_536 - 33) },
    refused: /at most 64 KiB serialized, and has 65537 bytes/,
  },
  {
    name: "over 64 KiB in UTF-8 alone",
    schema: { type: "object", description: "ß".repeat(40_000) },
    refused: /at most 64 KiB/,
  },
  { name: "a circular object", schema: circular, refused: /is no JSON/ },
  {
    name: "a number that JSON does not know",
    schema: { type: "object", maxProperties: 1n },
    refused: /is no JSON/,
  },
  {
    name: "$async at the root",
    schema: { type: "object", $async: true },
    refused: /\/\$async is not allowed/,
  },
  {
    name: "$async in a property",
    schema: object({ a: { $async: true } }),
    refused: /\/properties\/a\/\$async is not allowed/,
  },
  {
    name: "$async in an unused definition",
    schema: { type: "object", $defs: { a: { $async: false } } },
    refused: /\/\$defs\/a\/\$async/,
  },
  {
    name: "a reference over https",
    schema: object({ a: { $ref: "https://a.example/x.json" } }),
    refused: /\/properties\/a\/\$ref must point into this schema/,
  },
  {
    name: "a reference to a file",
    schema: object({ a: { $ref: "file:///etc/passwd" } }),
    refused: /\/properties\/a\/\$ref must point into/,
  },
  {
    name: "a reference to a neighbour",
    schema: object({ a: { items: { $ref: "other.json#/a" } } }),
    refused: /\/properties\/a\/items\/\$ref must point into/,
  },
  {
    name: "a reference to a host",
    schema: object({ a: { $ref: "//169.254.169.254/latest" } }),
    refused: /\/properties\/a\/\$ref must point into/,
  },
  {
    name: "a reference to the meta-schema",
    schema: object({ a: { $ref: "https://json-schema.org/draft/2020-12/schema" } }),
    refused: /\/properties\/a\/\$ref must point into/,
  },
  {
    name: "a reference to nothing",
    schema: object({ a: { $ref: "#/$defs/b" } }),
    refused: /\/properties\/a\/\$ref points to nothing in this schema \(#\/\$defs\/b\)/,
  },
  {
    name: "a reference to an anchor that is not there",
    schema: object({ a: { $ref: "#b" } }),
    refused: /\/properties\/a\/\$ref points to nothing/,
  },
  {
    name: "a reference that is a number",
    schema: object({ a: { $ref: 5 } }),
    refused: /\/properties\/a\/\$ref must be string/,
  },
  {
    name: "a reference with a broken escape",
    schema: object({ a: { $ref: "#/%E0%A4%A" } }),
    refused: /^outputSchema: /,
  },
  {
    name: "allOf of itself",
    schema: { type: "object", allOf: [{ $ref: "#" }] },
    refused: /\/allOf\/0\/\$ref refers to itself without end/,
  },
  {
    name: "anyOf of itself",
    schema: { type: "object", anyOf: [{ type: "object" }, { $ref: "#" }] },
    refused: endless,
  },
  { name: "not itself", schema: { type: "object", not: { $ref: "#" } }, refused: endless },
  // biome-ignore lint/suspicious/noThenProperty: the keyword.
  { name: "then itself", schema: { type: "object", if: true, then: { $ref: "#" } }, refused: endless },
  { name: "a root that refers to itself", schema: { type: "object", $ref: "#" }, refused: endless },
  {
    name: "a circle of definitions",
    schema: object(
      { a: { $ref: "#/$defs/a" } },
      { $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } } },
    ),
    refused: endless,
  },
  {
    name: "a dependent schema that is the whole",
    schema: { type: "object", dependentSchemas: { a: { $ref: "#" } } },
    refused: endless,
  },
  {
    name: "an endless part inside a bundle",
    schema: object({ a: { $ref: "b" } }, { $defs: { b: { $id: "b", oneOf: [{ $ref: "#" }] } } }),
    refused: endless,
  },
  {
    name: "a dynamic reference to itself",
    schema: { type: "object", $dynamicAnchor: "node", allOf: [{ $dynamicRef: "#node" }] },
    refused: endless,
  },
  {
    name: "an endless anchor below a property",
    schema: object({ a: { $anchor: "a", $ref: "#a" } }),
    refused: /refers to itself without end/,
  },
  { name: "a doubling chain of 40 levels", schema: doubling(40, { type: "object" }), refused: tooManyChecks },
  {
    name: "a doubling chain that fails at every end",
    schema: doubling(30, { required: ["x"] }),
    refused: tooManyChecks,
  },
  {
    name: "a doubling chain below a property",
    schema: object({ a: doubling(34, {}) }, { $defs: doubling(34, {}).$defs }),
    refused: tooManyChecks,
  },
  {
    name: "a doubling chain in the last branch of an optional union",
    schema: object(
      { a: { anyOf: [{ type: "string" }, { $ref: "#/$defs/d0" }] } },
      { $defs: doubling(26, {}).$defs },
    ),
    refused: tooManyChecks,
  },
  {
    name: "doubling at each level of a value",
    schema: {
      ...object({ a: { $ref: "#/$defs/v0" } }, { required: ["a"] }),
      $defs: Object.fromEntries(
        many(26, (index) => {
          const next = { properties: { a: index === 25 ? {} : { $ref: `#/$defs/v${index + 1}` } } };
          return [`v${index}`, { type: "object", required: ["a"], allOf: [next, next] }];
        }),
      ),
    },
    refused: tooMuch,
  },
  {
    name: "a required property that is the whole again",
    schema: object({ next: { $ref: "#" } }, { required: ["next"] }),
    refused: noValue,
  },
  {
    name: "a required list of at least one whole",
    schema: object({ parts: { type: "array", minItems: 1, items: { $ref: "#" } } }, { required: ["parts"] }),
    refused: noValue,
  },
  {
    name: "required definitions that require one another, in every branch",
    schema: object(
      { a: { $ref: "#/$defs/a" } },
      {
        required: ["a"],
        $defs: {
          a: { anyOf: [{ $ref: "#/$defs/b" }, { $ref: "#/$defs/c" }] },
          b: { type: "object", required: ["a"], allOf: [{ properties: { a: { $ref: "#/$defs/a" } } }] },
          c: { type: "array", minItems: 1, prefixItems: [{ $ref: "#/$defs/b" }] },
        },
      },
    ),
    refused: noValue,
  },
  {
    name: "a required property that is never valid",
    schema: object({ a: false }, { required: ["a"] }),
    refused: noValue,
  },
  {
    name: "recursion that may end",
    schema: object(
      {
        next: { anyOf: [{ $ref: "#" }, { type: "null" }] },
        parts: { type: "array", items: { $ref: "#" } },
        some: { $ref: "#" },
      },
      { required: ["next", "parts"] },
    ),
    value: { next: null, parts: [] },
    ends: "valid",
  },
  {
    name: "a doubling chain of 14 levels, which is still cheap",
    schema: doubling(14, { type: "object" }),
    value: {},
    ends: "valid",
  },
  {
    name: "a pattern that does not end",
    schema: object({ a: { pattern: "(" } }),
    refused: /\/properties\/a\/pattern must be a regular expression/,
  },
  {
    name: "a name pattern that is none",
    schema: { type: "object", patternProperties: { "[": {} } },
    refused: /\/patternProperties\/\[ must be a regular expression/,
  },
  {
    name: "a pattern that is a number",
    schema: object({ a: { pattern: 5 } }),
    refused: /\/properties\/a\/pattern must be string/,
  },
  {
    name: "an exponential pattern",
    schema: object({ a: { type: "string", pattern: "^(a+)+$" } }),
    value: { a: `${"a".repeat(60)}!` },
    ends: tooMuch,
  },
  {
    name: "an exponential name pattern",
    schema: { type: "object", patternProperties: { "^(a|aa)+$": {} } },
    value: { [`${"a".repeat(90)}!`]: 1 },
    ends: tooMuch,
  },
  {
    name: "uniqueItems over 20,000 objects",
    schema: object({ a: { type: "array", uniqueItems: true } }),
    value: { a: many(20_000, (index) => ({ index })) },
    ends: tooMuch,
  },
  {
    name: "a value whose properties are named like methods",
    schema: object({ a: { enum: [{ b: 1 }] } }),
    value: { a: { toString: 0 } },
    ends: "invalid",
  },
  {
    name: "a type that is none",
    schema: object({ a: { type: "strng" } }),
    refused: /\/properties\/a\/type must be one of/,
  },
  {
    name: "required as a text",
    schema: { type: "object", required: "a" },
    refused: /\/required must be array/,
  },
  {
    name: "properties as a list",
    schema: { type: "object", properties: [] },
    refused: /\/properties must be object/,
  },
  {
    name: "a negative length",
    schema: object({ a: { minLength: -1 } }),
    refused: /\/properties\/a\/minLength must be >= 0/,
  },
  {
    name: "a multiple of nothing",
    schema: object({ a: { multipleOf: 0 } }),
    refused: /\/properties\/a\/multipleOf must be > 0/,
  },
  {
    name: "an enumeration that is a text",
    schema: object({ a: { enum: "x" } }),
    refused: /\/properties\/a\/enum must be array/,
  },
  {
    name: "a schema that is a number",
    schema: object({ a: 5 }),
    refused: /\/properties\/a must be object,boolean/,
  },
  {
    name: "$data in place of a bound",
    schema: object({ a: { minimum: { $data: "1/b" } } }),
    refused: /\/properties\/a\/minimum must be number/,
  },
  {
    name: "the tuple of an older draft",
    schema: object({ a: { items: [{}] } }),
    refused: /\/properties\/a\/items must be object,boolean/,
  },
  {
    name: "a draft too old",
    schema: { type: "object", $schema: "http://json-schema.org/draft-03/schema#" },
    refused: /\/\$schema must name draft-04/,
  },
  {
    name: "a meta-schema of its own",
    schema: { type: "object", $schema: "https://a.example/meta" },
    refused: /\/\$schema must name/,
  },
  {
    name: "$schema that is a number",
    schema: { type: "object", $schema: 7 },
    refused: /\/\$schema must name/,
  },
  {
    name: "$schema named like a method",
    schema: { type: "object", $schema: "constructor" },
    refused: /\/\$schema must name/,
  },
  {
    name: "one id twice",
    schema: object({ a: { $id: "https://a.example/x" }, b: { $id: "https://a.example/x", type: "string" } }),
    refused: /\/properties\/a\/\$id is the id of another schema/,
  },
  {
    name: "four thousand levels of not",
    schema: nested(4_000, '{"not":', "{}", "}"),
    refused: /nested too deeply/,
  },
  {
    name: "three thousand levels of items",
    schema: nested(3_000, '{"items":', "{}", "}"),
    refused: /nested too deeply/,
  },
  {
    name: "a million lists in one another",
    schema: { type: "object", enum: many(1, () => JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)) },
    refused: /nested too deeply/,
  },
  {
    name: "2,500 properties in 64 KiB",
    schema: object(Object.fromEntries(many(2_500, (index) => [`p${index}`, { type: "string" }]))),
    value: { p2499: 1 },
    ends: "invalid",
  },
  {
    name: "3,000 branches in 64 KiB",
    schema: { type: "object", anyOf: many(3_000, () => ({ type: "object" })) },
    value: {},
    ends: "valid",
  },
  {
    name: "a pattern of 6,000 characters",
    schema: object({ a: { pattern: "(a?)".repeat(1_500) } }),
    value: { a: "b" },
    ends: "valid",
  },
  {
    name: "names and values that try to be code",
    schema: object(
      Object.fromEntries(
        injections.map((name) => [name, { type: "string", format: name, const: name, $comment: name }]),
      ),
      { required: injections },
    ),
    value: {},
    ends: "invalid",
  },
  {
    name: "an id that tries to be code",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is to look like a template.
    schema: object({ a: { $id: "https://a.example/`${process.exit(1)}`", type: "string" } }),
    value: { a: "x" },
    ends: "valid",
  },
  {
    name: "a property named __proto__",
    schema: JSON.parse(
      '{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"string"}}}',
    ),
    value: {},
    ends: "invalid",
  },
];
