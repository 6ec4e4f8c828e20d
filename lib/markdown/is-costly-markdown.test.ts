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
    "a line of many lists, and lines that belong to all of them": "1) ".repeat(49) + "a\n".repeat(9_000),
    "code that is opened and closed by other fences": "`a``b".repeat(400),
    "a link with parentheses": `http://a.${")".repeat(19_000)}x`,
    "a table of many columns and lines": `${"|a".repeat(1_500)}\n${"|-".repeat(1_500)}\n${"a\n".repeat(3_000)}`,
    "marks behind a fence of another kind": `~~~\n\`\`\`\n~~~\n${"*a _b ".repeat(800)}\n\n\`\`\`\n\`\`\`\n`,
    "marks behind an indented fence": `- a\n\n  \`\`\`\n${"*a _b ".repeat(800)}\n\`\`\`\n`,
    "marks behind a fence in a comment": `<!--\n\`\`\`\n-->\n\n${"*a _b ".repeat(800)}\n\n\`\`\`\n`,
    "marks behind an indented closing fence": `\`\`\`\n  \`\`\`\n${"*a _b ".repeat(800)}\n\`\`\`\n\`\`\`\n`,
    "marks behind a fence that is not closed": `\`\`\`\n${"*a _b ".repeat(800)}`,
  };
  for (const [name, text] of Object.entries(costly))
    it(`is detected: ${name}`, () => assert.equal(isCostlyMarkdown(text), true));

  it("does not include ordinary texts", () => {
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
      `Fixed:\n\n\`\`\`ts\n${"const a = [b[0], `c`] // **\n".repeat(300)}\`\`\`\n\nDone.`,
      `Fixed:\n\n~~~\n${"const a = [b[0], `c`] // **\n".repeat(300)}~~~\n\nDone.`,
      `| page | price |\n|---|---|\n${"| /cart | 12 |\n".repeat(300)}`,
    ])
      assert.equal(isCostlyMarkdown(text), false, text);
  });
});
