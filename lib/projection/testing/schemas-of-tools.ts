import type { RealSchema } from "./real-schema.ts";

const text = { type: "string" };
const list = (items: unknown) => ({ type: "array", items });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const map = (additionalProperties: unknown) => ({ type: "object", additionalProperties });
const closed = (properties: object, more: object = {}) =>
  object(properties, { additionalProperties: false, ...more });
const seven = "http://json-schema.org/draft-07/schema#";

/** Schemas of files for developer tools: manifests, pipelines, linters, interface descriptions. */
export const tools: readonly RealSchema[] = [
  {
    name: "a package manifest",
    schema: {
      $schema: seven,
      ...object(
        {
          name: { type: "string", maxLength: 214 },
          version: text,
          bin: { type: ["string", "object"], additionalProperties: text },
          author: { $ref: "#/definitions/person" },
          dependencies: { $ref: "#/definitions/dependencies" },
          devDependencies: { description: "For development", $ref: "#/definitions/dependencies" },
          files: list(text),
          private: { anyOf: [{ type: "boolean" }, { enum: ["false", "true"] }] },
          exports: { oneOf: [{ type: "null" }, text, map({ type: ["string", "null"] })] },
        },
        { required: ["name"], patternProperties: { "^_": { type: "string" } } },
      ),
      definitions: {
        person: {
          type: ["object", "string"],
          required: ["name"],
          properties: { name: text, email: { type: "string", format: "email" } },
        },
        dependencies: map(text),
      },
    },
    values: [
      { name: "a", bin: "cli.js", author: "Me <me@example.com>", private: "true", exports: null },
      {
        name: "a",
        version: "1.0.0",
        bin: { a: "a.js" },
        author: { name: "Me", url: "x" },
        dependencies: { b: "^1" },
        devDependencies: {},
        exports: { ".": null, "./x": "./x.js" },
      },
      { name: "a", _id: "a@1", custom: { any: [1, "two", null] } },
    ],
    undeclared: ["url"],
  },
  {
    name: "a pipeline",
    schema: {
      $schema: seven,
      ...closed(
        {
          name: text,
          on: {
            oneOf: [
              text,
              list(text),
              closed({
                push: { type: ["object", "null"], properties: { branches: list(text) } },
                schedule: list(closed({ cron: text })),
              }),
            ],
          },
          env: map({ type: ["string", "number", "boolean"] }),
          jobs: {
            type: "object",
            patternProperties: {
              "^[_a-zA-Z][a-zA-Z0-9_-]*$": {
                oneOf: [{ $ref: "#/definitions/job" }, { $ref: "#/definitions/call" }],
              },
            },
            additionalProperties: false,
            minProperties: 1,
          },
        },
        { required: ["on", "jobs"] },
      ),
      definitions: {
        job: closed(
          {
            "runs-on": { anyOf: [text, list(text)] },
            needs: { anyOf: [text, { ...list(text), minItems: 1 }] },
            steps: list({ $ref: "#/definitions/step" }),
          },
          { required: ["runs-on"] },
        ),
        call: closed({ uses: text, with: map(true) }, { required: ["uses"] }),
        step: object(
          {
            id: text,
            run: text,
            uses: text,
            with: map({ type: ["string", "number", "boolean"] }),
            if: { type: ["boolean", "number", "string"] },
          },
          { anyOf: [{ required: ["run"] }, { required: ["uses"] }] },
        ),
      },
    },
    values: [
      {
        on: "push",
        jobs: {
          build: {
            "runs-on": "linux",
            steps: [{ run: "make" }, { uses: "x@v1", with: { depth: 1 }, if: true }],
          },
        },
      },
      {
        name: "CI",
        on: { push: null, schedule: [{ cron: "* * * * *" }] },
        env: { A: 1, B: "b" },
        jobs: {
          a: { uses: "./b.yml", with: { deep: { er: [] } } },
          "b-2": { "runs-on": ["self", "x64"], needs: ["a"] },
        },
      },
    ],
  },
  {
    name: "services of a container file",
    schema: closed(
      {
        services: {
          type: "object",
          patternProperties: {
            "^[a-zA-Z0-9._-]+$": closed(
              {
                image: text,
                build: { oneOf: [text, object({ context: text, args: { $ref: "#/$defs/listOrDict" } })] },
                environment: { $ref: "#/$defs/listOrDict" },
                ports: list({
                  oneOf: [
                    { type: "number" },
                    text,
                    closed({ target: { type: "integer" }, published: { type: ["string", "integer"] } }),
                  ],
                }),
                command: { oneOf: [{ type: "null" }, text, list(text)] },
              },
              { patternProperties: { "^x-": {} } },
            ),
          },
          additionalProperties: false,
        },
        volumes: map({ type: ["object", "null"] }),
      },
      {
        $defs: {
          listOrDict: {
            oneOf: [
              {
                type: "object",
                patternProperties: { ".+": { type: ["string", "number", "boolean", "null"] } },
                additionalProperties: false,
              },
              { ...list(text), uniqueItems: true },
            ],
          },
        },
      },
    ),
    values: [
      {
        services: {
          web: {
            image: "a",
            environment: ["A=1"],
            ports: [80, "1:2", { target: 3, published: "4" }],
            command: null,
            "x-note": { any: 1 },
          },
        },
        volumes: { data: null },
      },
      {
        services: {
          "db.1": {
            build: { context: ".", args: { V: 1, W: null }, extra: 2 },
            environment: {},
            command: [],
          },
        },
      },
      { services: { db: { build: { args: [] }, environment: [] } } },
    ],
    undeclared: ["extra"],
  },
  {
    name: "rules of a linter: a level, or a list of a level and options",
    schema: object(
      {
        rules: map({
          anyOf: [
            { $ref: "#/$defs/level" },
            { type: "array", prefixItems: [{ $ref: "#/$defs/level" }], items: true, minItems: 1 },
          ],
        }),
        extends: { anyOf: [text, list(text)] },
        overrides: list({ allOf: [{ $ref: "#" }, object({ files: list(text) }, { required: ["files"] })] }),
      },
      {
        $defs: {
          level: { oneOf: [{ type: "integer", minimum: 0, maximum: 2 }, { enum: ["off", "warn", "error"] }] },
        },
      },
    ),
    values: [
      { rules: { semi: 2, quotes: ["error", "double", { avoidEscape: true }], x: ["off"] }, extends: "base" },
      {
        extends: [],
        overrides: [
          { files: ["*.ts"], rules: { y: "warn" } },
          { files: [], overrides: [] },
        ],
      },
    ],
  },
  {
    name: "an interface's components",
    schema: {
      ...object({ pets: list({ $ref: "#/components/schemas/Pet" }) }, { required: ["pets"] }),
      components: {
        schemas: {
          Pet: {
            type: "object",
            required: ["petType"],
            properties: { petType: text, tag: { type: "string", nullable: true } },
            discriminator: { propertyName: "petType" },
          },
          Cat: {
            allOf: [
              { $ref: "#/components/schemas/Pet" },
              { type: "object", properties: { skill: { enum: ["lazy", "adventurous"] } } },
            ],
          },
        },
      },
    },
    values: [{ pets: [] }, { pets: [{ petType: "Cat", tag: "x", skill: "lazy" }] }],
    undeclared: ["skill"],
  },
  {
    name: "inheritance by allOf, closed at the end",
    schema: object(
      {
        cat: {
          allOf: [{ $ref: "#/$defs/pet" }, object({ lives: { type: "integer" } }, { required: ["lives"] })],
          unevaluatedProperties: false,
        },
      },
      { $defs: { pet: object({ name: text, owner: { $ref: "#/$defs/pet" } }, { required: ["name"] }) } },
    ),
    values: [{ cat: { name: "A", lives: 9, owner: { name: "B", any: 1 } } }, {}],
    undeclared: ["any"],
  },
  {
    name: "a manifest of draft-04 with ids and tuples",
    schema: {
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "http://example.com/root.json",
      ...object(
        {
          size: { type: "number", minimum: 0, exclusiveMinimum: true },
          range: {
            type: "array",
            items: [{ type: "integer" }, { type: "integer" }],
            additionalItems: false,
            minItems: 2,
          },
          matrix: { type: "array", items: [text, { type: "boolean" }], additionalItems: list(text) },
          nested: { $ref: "#/definitions/a" },
        },
        { additionalProperties: false },
      ),
      definitions: { a: { id: "#a", type: "object", properties: { more: { $ref: "#a" } } } },
    },
    values: [
      { size: 1, range: [1, 2], matrix: ["x", true, ["y"]] },
      { matrix: [], nested: { more: { more: {}, x: null } } },
    ],
    undeclared: ["x"],
  },
  {
    name: "settings of any kind",
    schema: object({
      settings: {},
      flags: true,
      never: false,
      level: { enum: [1, "1", true, null, { deep: [1] }, []] },
      exact: { const: { a: [1, null] } },
    }),
    values: [
      { settings: null, flags: [] },
      { settings: { a: { b: [{}, "", 1.5] } }, level: null },
      { level: { deep: [1] }, exact: { a: [1, null] } },
      { level: [] },
      { level: "1" },
      { flags: false },
    ],
  },
  {
    name: "an editor's snippets and keys under awkward names",
    schema: object(
      {
        "editor.tabSize": { type: "integer" },
        "": text,
        größe: text,
        constructor: text,
        "a b": text,
        a_b: text,
        ["k".repeat(80)]: text,
        entries: text,
        additional: list(text),
      },
      { additionalProperties: { type: ["string", "array"] } },
    ),
    values: [
      {
        "editor.tabSize": 2,
        "": "e",
        größe: "g",
        constructor: "c",
        "a b": "1",
        a_b: "2",
        ["k".repeat(80)]: "k",
        entries: "x",
        additional: ["y"],
        "more stuff": [1],
      },
      {},
    ],
  },
];
