import type { RealSchema } from "./real-schema.ts";

const text = { type: "string" };
const number = { type: "number" };
const list = (items: unknown) => ({ type: "array", items });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const tagged = (type: string, properties: object) =>
  object(
    { type: { const: type }, ...properties },
    { required: ["type", ...Object.keys(properties)], additionalProperties: false },
  );

/** Schemas of trees, maps, and recursive or deep structures. */
export const structures: readonly RealSchema[] = [
  {
    name: "comments with their answers",
    schema: object(
      { author: text, body: text, replies: list({ $ref: "#" }) },
      { required: ["author", "body"], additionalProperties: false },
    ),
    values: [
      { author: "a", body: "b" },
      { author: "a", body: "b", replies: [{ author: "c", body: "d", replies: [] }] },
    ],
  },
  {
    name: "a file system",
    schema: object(
      { root: { $ref: "#/$defs/folder" } },
      {
        $defs: {
          entry: { oneOf: [{ $ref: "#/$defs/file" }, { $ref: "#/$defs/folder" }] },
          file: object(
            { name: text, bytes: { type: "integer" } },
            { required: ["name", "bytes"], additionalProperties: false },
          ),
          folder: object(
            { name: text, entries: list({ $ref: "#/$defs/entry" }) },
            { required: ["name", "entries"], additionalProperties: false },
          ),
        },
      },
    ),
    values: [
      {
        root: {
          name: "/",
          entries: [
            { name: "a", bytes: 1 },
            { name: "b", entries: [{ name: "c", bytes: 2 }] },
          ],
        },
      },
    ],
  },
  {
    name: "a syntax tree",
    schema: object(
      { program: list({ $ref: "#/$defs/expression" }) },
      {
        required: ["program"],
        $defs: {
          expression: {
            anyOf: [
              number,
              text,
              tagged("call", { callee: text, arguments: list({ $ref: "#/$defs/expression" }) }),
              tagged("binary", {
                left: { $ref: "#/$defs/expression" },
                right: { $ref: "#/$defs/expression" },
              }),
              { type: "null" },
            ],
          },
        },
      },
    ),
    values: [
      {
        program: [
          1,
          "x",
          null,
          {
            type: "call",
            callee: "f",
            arguments: [{ type: "binary", left: 1, right: { type: "call", callee: "g", arguments: [] } }],
          },
        ],
      },
    ],
  },
  {
    name: "features on a map",
    schema: object(
      {
        type: { const: "FeatureCollection" },
        features: list(
          object(
            {
              type: { const: "Feature" },
              id: { oneOf: [number, text] },
              properties: { oneOf: [{ type: "null" }, { type: "object" }] },
              geometry: {
                oneOf: [
                  { type: "null" },
                  {
                    title: "Point",
                    ...object(
                      { type: { enum: ["Point"] }, coordinates: { ...list(number), minItems: 2 } },
                      { required: ["type", "coordinates"] },
                    ),
                  },
                  {
                    title: "LineString",
                    ...object(
                      {
                        type: { enum: ["LineString"] },
                        coordinates: { ...list({ ...list(number), minItems: 2 }), minItems: 2 },
                      },
                      { required: ["type", "coordinates"] },
                    ),
                  },
                ],
              },
            },
            { required: ["type", "properties", "geometry"] },
          ),
        ),
      },
      { required: ["type", "features"] },
    ),
    values: [
      {
        type: "FeatureCollection",
        features: [
          { type: "Feature", properties: null, geometry: { type: "Point", coordinates: [1.5, -2] } },
          {
            type: "Feature",
            id: 7,
            properties: { name: "x", list: [{}] },
            geometry: {
              type: "LineString",
              coordinates: [
                [0, 0],
                [1, 1],
              ],
              bbox: [0],
            },
          },
          { type: "Feature", properties: {}, geometry: null },
        ],
      },
    ],
    undeclared: ["bbox"],
  },
  {
    name: "fourteen levels of objects",
    schema: Array.from({ length: 14 }).reduce<Record<string, unknown>>(
      (inner, _, level) =>
        object({ [`level${level}`]: inner, beside: text }, { required: [`level${level}`] }),
      object({ end: number }),
    ),
    values: [
      Array.from({ length: 14 }).reduce<unknown>(
        (inner, _, level) => ({ [`level${level}`]: inner, beside: "x" }),
        { end: 1, extra: true },
      ),
    ],
    undeclared: ["extra"],
  },
  {
    name: "a table of rows, each a tuple",
    schema: object({
      rows: list({
        type: "array",
        prefixItems: [text, { type: ["number", "null"] }, { type: "boolean" }],
        items: text,
      }),
    }),
    values: [{ rows: [["a", null, true, "x", "y"], ["b"], [], ["c", 1]] }],
  },
  {
    name: "a theme: tokens in tokens, or their values",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: { anyOf: [{ $ref: "#/definitions/token" }, { $ref: "#" }] },
      definitions: {
        token: object(
          { $value: { type: ["string", "number"] }, $type: { enum: ["color", "size"] } },
          { required: ["$value"], additionalProperties: false },
        ),
      },
    },
    values: [{ colors: { red: { $value: "#f00", $type: "color" }, dark: { red: { $value: "#900" } } } }, {}],
  },
  {
    name: "a query of nested conditions",
    schema: object(
      { where: { $ref: "#/$defs/where" } },
      {
        $defs: {
          where: {
            anyOf: [
              object(
                { and: list({ $ref: "#/$defs/where" }) },
                { required: ["and"], additionalProperties: false },
              ),
              object({ not: { $ref: "#/$defs/where" } }, { required: ["not"], additionalProperties: false }),
              object(
                { field: text, equals: {} },
                { required: ["field", "equals"], additionalProperties: false },
              ),
            ],
          },
        },
      },
    ),
    values: [
      {
        where: {
          and: [{ not: { field: "a", equals: null } }, { field: "b", equals: { c: [] } }, { and: [] }],
        },
      },
    ],
  },
  {
    name: "a linked structure by anchors",
    schema: object(
      { head: { $ref: "#node" } },
      {
        $defs: {
          node: {
            $anchor: "node",
            ...object(
              {
                value: { type: ["integer", "null"] },
                next: { anyOf: [{ $ref: "#node" }, { type: "null" }] },
              },
              { required: ["value"] },
            ),
          },
        },
      },
    ),
    values: [{ head: { value: 1, next: { value: null, next: null } } }, { head: { value: 2 } }],
  },
  {
    name: "a root that is a choice",
    schema: {
      type: "object",
      oneOf: [
        object({ ok: { const: true }, data: {} }, { required: ["ok", "data"] }),
        object({ ok: { const: false }, error: text }, { required: ["ok", "error"] }),
      ],
    },
    values: [
      { ok: true, data: null },
      { ok: false, error: "x", more: 1 },
    ],
    undeclared: ["more"],
  },
  {
    name: "two choices at once",
    schema: {
      type: "object",
      allOf: [
        { oneOf: [object({ a: text }, { required: ["a"] }), object({ b: number }, { required: ["b"] })] },
        { anyOf: [object({ c: text }, { required: ["c"] }), object({ d: list(text) }, { required: ["d"] })] },
      ],
    },
    values: [
      { a: "x", c: "y" },
      { b: 1, d: [], c: 5 },
      { a: "x", d: ["y"], z: {} },
    ],
  },
];
