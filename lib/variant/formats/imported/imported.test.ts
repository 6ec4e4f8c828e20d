import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkDocumentContent } from "../../compile/check-document.ts";
import { type VariantDocument, variantDocumentSchema } from "../../document.ts";
import { exportGrowthBook } from "../growthbook/export-growthbook.ts";
import { importGrowthBook } from "../growthbook/import-growthbook.ts";
import { exportPostHog } from "../posthog/export-posthog.ts";
import { importPostHog } from "../posthog/import-posthog.ts";

/**
 * Matches a sentence that begins with a path, such as `variants["a b"].test`. Quoted keys in the path may contain
 * spaces.
 */
const FIELD_AND_SENTENCE = /^(?:[^ "]|"(?:[^"\\]|\\.)*")+: ./;

const NAMED = { name: "n", key: "k" };
const VARIANT: VariantDocument = {
  pages: [
    {
      url: "https://a.example/x",
      match: "prefix",
      css: "p{}",
      js: "return",
      changes: [
        { id: "a", op: "setText", selector: "h1", text: "x" },
        { id: "b", op: "setHtml", selector: "h2", html: "<b>x</b>" },
        { id: "c", op: "remove", selector: "#c" },
        { id: "d", op: "move", selector: "#d", position: "before", target: "#e" },
      ],
    },
  ],
};

/** Lists the paths of a JSON value and of all values inside it. */
const listPaths = (value: unknown): string[][] =>
  typeof value === "object" && value !== null
    ? [[], ...Object.entries(value).flatMap(([key, inner]) => listPaths(inner).map((path) => [key, ...path]))]
    : [[]];

/** Copies a JSON value, and replaces the value at one path. */
function replaceAt(value: unknown, [key, ...rest]: string[], other: unknown): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return other;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === key ? replaceAt(inner, rest, other) : inner,
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

const hostile = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom("__proto__", "constructor", ">>", ":is(", "^https://(", "<script>", "*", "\ud800", "{", ""),
);

for (const [name, document, read] of [
  ["GrowthBook", exportGrowthBook(VARIANT, NAMED).document, importGrowthBook],
  ["PostHog", exportPostHog(VARIANT, NAMED).document, importPostHog],
] as const)
  test(`the import of any document of ${name} passes the check or is refused with a field`, () => {
    const plain: unknown = JSON.parse(JSON.stringify(document));
    const paths = listPaths(plain);
    fc.assert(
      fc.property(fc.constantFrom(...paths), hostile, (path, other) => {
        const imported = read(replaceAt(plain, path, other));
        if (!imported.ok) return assert.match(imported.problem, FIELD_AND_SENTENCE);
        let last = 0;
        const pages = imported.pages.map((page) => ({
          ...page,
          changes: page.changes.map((change) => ({ ...change, id: `c${++last}` })),
        }));
        const again = variantDocumentSchema.parse({ pages });
        assert.deepEqual(checkDocumentContent(again), []);
        // Exporting a document must not throw if the import accepted it.
        exportGrowthBook(again, NAMED);
        exportPostHog(again, NAMED);
        return undefined;
      }),
      { numRuns: 1_500 },
    );
  });
