import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseFragment } from "parse5";
import { renderMarkdown } from "./markdown.ts";

const TAGS = new Set(
  "div p h3 h4 h5 h6 strong em del code pre ul ol li blockquote hr br a table thead tbody tr th td".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(["class", "dir", "href", "target", "rel", "start", "align"]);

type Node = { nodeName: string; attrs?: { name: string; value: string }[]; childNodes?: Node[] };

function check(node: Node): void {
  for (const child of node.childNodes ?? []) {
    if (child.nodeName !== "#text") {
      assert.ok(TAGS.has(child.nodeName), child.nodeName);
      for (const { name, value } of child.attrs ?? []) {
        assert.ok(ATTRIBUTES.has(name), name);
        if (name === "href") assert.match(value, /^https?:\/\//i);
      }
    }
    check(child);
  }
}

describe("Markdown of an export", () => {
  it("becomes only allowed elements and attributes, for any text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."<script> </div> <img src=x onerror=a> <!-- <![CDATA[ [a](javascript:b) [a](//x) ![i](https://x/y) <https://x> <a:b> | |- > # - * ` ``` ~~ ** _ [^1] [^1]: [x]: &lt; &#60; \\< \" '".split(
          " ",
        ),
        "\n",
        "\n\n",
        "    ",
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        check(parseFragment(renderMarkdown(pieces.join(""))) as unknown as Node);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is shown as plain text if parsing would take long", () => {
    for (const text of ["*a_ ".repeat(5_000), "1. > ".repeat(4_000), "x".repeat(20_001)])
      assert.match(renderMarkdown(text), /^<div class="plain"/);
    assert.match(renderMarkdown("# A *b*"), /^<div class="prose" dir="auto"><h3>A <em>b<\/em><\/h3><\/div>$/);
  });
});
