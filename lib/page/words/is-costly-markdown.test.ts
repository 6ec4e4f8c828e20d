import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isCostlyMarkdown } from "./is-costly-markdown.ts";

describe("Markdown that is costly to render", () => {
  const costly: Record<string, string> = {
    quotes: ">".repeat(1_000),
    "quotes and lists": "> - 1. ".repeat(100),
    lists: "- + ".repeat(500),
    emphasis: `${"**".repeat(2_000)}a${"**".repeat(2_000)}`,
    "emphasis in words": "*a _b ".repeat(800),
    links: `${"![".repeat(1_500)}a${"](b)".repeat(1_500)}`,
    "a deep line after others": `A text.\n\n${"> ".repeat(80)}a`,
  };
  for (const [what, text] of Object.entries(costly))
    it(`${what}, deeply nested`, () => assert.equal(isCostlyMarkdown(text), true));

  it("and texts that people read are not", () => {
    const list = Array.from(
      { length: 200 },
      (_, index) => `${index}. **Entry** [link](https://shop.example) \`[a]\``,
    );
    for (const text of [
      "",
      "a > b",
      `${"-".repeat(80)}`,
      "> > > quote",
      "| a | b |\n|---|---|",
      list.join("\n"),
    ])
      assert.equal(isCostlyMarkdown(text), false, text);
  });
});
