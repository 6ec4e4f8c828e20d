import assert from "node:assert/strict";
import { test } from "node:test";
import { Script } from "node:vm";
import type { VariantDocument } from "../document.ts";
import { variantScript } from "./variant-script.ts";

const document = (over: Partial<VariantDocument["pages"][number]>): VariantDocument => ({
  pages: [{ url: "https://a.example/", match: "path", changes: [], css: "", js: "", ...over }],
});

test("texts are safe inside a script element and in strings", () => {
  const text = "</script><!-- \u2028\u2029 ` \\";
  const script = variantScript(
    document({ css: text, changes: [{ id: "a", op: "setText", selector: "p", text }] }),
    "main",
  );
  new Script(script);
  const config = script.slice(script.lastIndexOf('({key:"main"'));
  assert.doesNotMatch(config, /<|\u2028|\u2029/);
});

test("a page's js becomes a function, even if it ends with a comment; blank js is left out", () => {
  new Script(variantScript(document({ js: "return 1 // comment" }), "main"));
  assert.doesNotMatch(variantScript(document({ js: " \n" }), "main"), /js\(\)\{/);
});

test("changes that are off, notes and `late` are left out", () => {
  const script = variantScript(
    document({
      changes: [
        { id: "shown", op: "remove", selector: "p", note: "why it is", late: true },
        { id: "hidden-one", op: "remove", selector: "b", off: true },
      ],
    }),
    "main",
  );
  assert.match(script, /"shown"/);
  assert.doesNotMatch(script, /hidden-one|why it is|"late"/);
});

test("invalid HTML throws", () => {
  const changes = [{ id: "a", op: "setHtml" as const, selector: "p", html: "<script>" }];
  assert.throws(() => variantScript(document({ changes }), "main"), /^Error: a: script elements/);
});
