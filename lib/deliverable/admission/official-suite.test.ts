import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compileSchema } from "./compile-schema.ts";

// The official JSON-Schema-Test-Suite. npm has no package of it with the drafts since 2019-09; Debian's
// `libtest-json-schema-acceptance-perl` has all of them. Without that package, these tests are skipped.
const FOLDER = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests";

const drafts = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
};

type Group = {
  description: string;
  schema: boolean | object;
  tests: { description: string; data: unknown; valid: boolean }[];
};

/** The refusal of a schema that refers to another document, which the contract does not accept (only local `$ref`). */
const REMOTE = /\$ref must point into this schema \(/;

/** Groups of tests that may fail, each with the reason. */
const exceptions: [group: RegExp, why: string][] = [
  [/^vocabulary\.json/, "`$schema` must name a draft; meta-schemas of callers are other documents"],
  [
    /^unknownKeyword\.json/,
    "ajv reads an `$id` in an unknown keyword, so two schemas have one id; refused with its place",
  ],
  [
    /^properties\.json \| properties whose names are Javascript object/,
    "ajv ignores a schema for `__proto__` (decision 018)",
  ],
  [
    /^dynamicRef\.json \| (A \$dynamicRef resolves to the first|A \$dynamicRef with intermediate scopes)/,
    "ajv keeps the anchors of resources that evaluation has left",
  ],
  [
    /^dynamicRef\.json \| A \$dynamicRef that initially resolves/,
    "a `$dynamicRef` into another resource is refused with its place",
  ],
  [
    /^dynamicRef\.json \| (A \$dynamicRef to a \$dynamicAnchor|An \$anchor with the same name)/,
    "ajv finds `$dynamicAnchor` only by name, not in its resource",
  ],
  [
    /^dynamicRef\.json \| after leaving a dynamic scope/,
    "a `$dynamicRef` into another resource is refused with its place",
  ],
];

describe("the official test suite", {
  skip: existsSync(FOLDER) ? false : "the suite is not installed",
}, () => {
  const used = new Set<string>();
  for (const [draft, $schema] of Object.entries(drafts))
    test(`${draft}: every required test has its verdict, apart from named exceptions`, (t) => {
      let passed = 0;
      let total = 0;
      let remote = 0;
      const wrong: string[] = [];
      for (const file of readdirSync(join(FOLDER, draft)).filter((name) => name.endsWith(".json"))) {
        const groups: Group[] = JSON.parse(readFileSync(join(FOLDER, draft, file), "utf8"));
        for (const { description, schema, tests } of groups) {
          const name = `${file} | ${description}`;
          const whole = typeof schema === "boolean" ? { $schema, allOf: [schema] } : { $schema, ...schema };
          const compiled = compileSchema(structuredClone(whole));
          for (const each of tests) {
            total += 1;
            if (compiled.ok && (compiled.validate(each.data) === true) === each.valid) passed += 1;
            else if (!compiled.ok && REMOTE.test(compiled.error)) remote += 1;
            else {
              const exception = exceptions.find(([group]) => group.test(name));
              if (exception) used.add(exception[1] + exception[0]);
              else wrong.push(`${name} | ${each.description}${compiled.ok ? "" : ` | ${compiled.error}`}`);
            }
          }
        }
      }
      t.diagnostic(`${draft}: ${passed} of ${total} pass, ${remote} refer to other documents`);
      assert.deepEqual(wrong, []);
    });

  test("every exception is still needed", () => {
    const unused = exceptions.filter(([group, why]) => !used.has(why + group));
    assert.deepEqual(unused, []);
  });
});
