import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quoteMarkdown } from "./quote-markdown.ts";
import type { Finding, Report } from "./report.ts";
import { writeMarkdown } from "./write-markdown.ts";

const finding: Finding = {
  severity: "serious",
  title: "The Pay button has no name",
  detail: "Screen readers announce `button`.",
  url: "https://shop.example/checkout",
  selector: "#pay",
  steps: ["Open the checkout.", "Tab to the button."],
  evidence: [{ id: "evi_a", kind: "screenshot", title: "The form", url: null, mediaType: "image/png" }],
};
const report: Report = {
  id: "rep_a",
  sessionId: "ses_a",
  title: "Checkout audit",
  version: 2,
  url: "/s/ses_a/reports/rep_a",
  counts: { critical: 0, serious: 1, moderate: 0, minor: 0, info: 0 },
  createdAt: "2026-11-20T10:00:00.000Z",
  newest: { id: "rep_a", version: 2, url: "/s/ses_a/reports/rep_a" },
  tested: [{ variant: "main", revision: 3, check: { status: "pass", at: "2026-11-20T09:00:00.000Z" } }],
  summary: "It works, **mostly**.",
  findings: [finding],
};
const write = (fields: Partial<Report>) => writeMarkdown({ ...report, ...fields }, "https://service.example");
const writeOne = (fields: Partial<Finding>) => write({ findings: [{ ...finding, ...fields }] });

describe("a report as Markdown", () => {
  it("has its facts, its summary and its findings with links to the evidence", () => {
    assert.equal(
      write({}),
      `# Checkout audit

- Published: 2026-11-20T10:00:00.000Z, version 2
- Session: \`ses_a\`
- Report: <https://service.example/s/ses_a/reports/rep_a>
- Tested: variant \`main\`, revision 3, check: pass (2026-11-20T09:00:00.000Z)
- Findings: 1 (1 serious)

## Summary

> It works, **mostly**.

## Findings

### 1. [serious] The Pay button has no name

- Page: \`https://shop.example/checkout\`
- Element: \`#pay\`

> Screen readers announce \`button\`.

Steps:

1. Open the checkout.
2. Tab to the button.

Evidence:

- [The form](https://service.example/api/sessions/ses_a/artifacts/evi_a)
`,
    );
  });

  it("leaves out empty parts", () => {
    const bare = { ...finding, detail: " ", url: null, selector: null, steps: [], evidence: [] };
    const text = write({ summary: "", tested: [], findings: [bare] });
    assert.doesNotMatch(text, /Summary|Tested|Page:|Element:|Steps|Evidence|^>/m);
    const counts = { ...report.counts, serious: 0 };
    assert.ok(
      write({ findings: [], counts }).endsWith("- Findings: none\n\n## Summary\n\n> It works, **mostly**.\n"),
    );
  });

  it("escapes titles, steps and titles of evidence", () => {
    const title = "**a** <script>x</script>\n\n# b [c](javascript:alert(1)) `d` | e ~f~ &lt; $g$";
    const escaped =
      "\\*\\*a\\*\\* \\<script\\>x\\</script\\> # b \\[c\\](javascript:alert(1)) \\`d\\` \\| e \\~f\\~ \\&lt; \\$g\\$";
    assert.ok(write({ title }).startsWith(`# ${escaped}\n\n`));
    assert.ok(writeOne({ title }).includes(`### 1. [serious] ${escaped}\n`));
    const steps = ["# heading", "- item", "3. third", "two\nlines"];
    assert.ok(writeOne({ steps }).includes("1. \\# heading\n2. \\- item\n3. 3\\. third\n4. two lines\n"));
    const evidence = finding.evidence.map((piece) => ({ ...piece, title: "x](https://evil.example) [y" }));
    assert.ok(
      writeOne({ evidence }).includes("- [x\\](https://evil.example) \\[y](https://service.example/"),
    );
  });

  it("writes addresses and selectors as code, even if they contain backticks", () => {
    const text = writeOne({ selector: "a[title='``']\n\n# x", url: "https://shop.example/`</script>" });
    assert.ok(text.includes("- Element: ```a[title='``'] # x```\n"));
    assert.ok(text.includes("- Page: ``https://shop.example/`</script>``\n"));
    assert.ok(writeOne({ selector: "`a`" }).includes("- Element: `` `a` ``\n"));
  });
});

describe("the agent's Markdown in a quote", () => {
  const cases: [string, string, string][] = [
    ["an open fence ends with the quote", "a\n```js\nx < 1\n\n# b", "> a\n> ```js\n> x < 1\n>\n> # b"],
    ["a fence is closed by a longer one", "```\n<b>\n````\n<b>", "> ```\n> <b>\n> ````\n> \\<b>"],
    ["only the name of a language may follow a fence", "~~~ <script>\n<b>", "> ~~~\n> <b>"],
    ["a fence in a list ends with it", "- a\n  ```\n<b>", "> - a\n>   \\`\\`\\`\n> \\<b>"],
    [
      "an indented fence of tildes is text",
      "a\n ~~~\n```x\n ~~~\n<b>",
      "> a\n>  \\~\\~\\~\n> ```x\n>  ~~~\n> <b>",
    ],
    ["raw HTML is text", "<!-- x\n<img src=x onerror=y>", "> \\<!-- x\n> \\<img src=x onerror=y>"],
    ["code stays code", "use `<label>` or ``a ` b``", "> use `<label>` or ``a ` b``"],
    ["a code span must end on its line", "a ` b\n` <script> `", "> a \\` b\n> ` <script> `"],
    ["an escaped backtick does not open a code span", "\\`<script>`", "> \\`\\<script>\\`"],
    ["a backslash does not close code early", "`\\` <b> `", "> `\\` \\<b> \\`"],
    ["a bar divides cells even inside a code span", "| ` <img src=x> | ` |", "> | \\` \\<img src=x> | \\` |"],
    [
      "pictures of other sites are text",
      "![x](https://evil.example/p.png)",
      "> \\![x](https://evil.example/p.png)",
    ],
    [
      "links to pages are kept",
      'see [a](https://a.example/x_(1) "T"), [b](/p?q=a:b), [c](#d), [e](mailto:e@f.example), [g](a&amp;b)\n[r]: http://a.example',
      '> see [a](https://a.example/x_(1) "T"), [b](/p?q=a:b), [c](#d), [e](mailto:e@f.example), [g](a&amp;b)\n> [r]: http://a.example',
    ],
    [
      "addresses that may run code are removed",
      "a [b](javascript:alert(1)) c [d]( JavaScript:x 'title') e [f](vbscript:x) [g](data:text/html;base64,PGI+) [h](blob:x) [i](file:///x)",
      "> a [b] c [d] e [f] [g] [h] [i]",
    ],
    [
      "addresses are read with their entities and escapes",
      "[a](javascript&colon;x) [b](java&#115;cript&#x3A;x) [c](java&Tab;script:x) [d](javascript\\:x) [e](&#1;javascript:x) [f](java&lowbar;:x) [g](\u00a0javascript:x)",
      "> [a] [b] [c] [d] [e] [f] [g]",
    ],
    [
      "definitions are links, and so are links whose address is on the next line",
      "[a]\n\n[a]: javascript:x\n[b]:\njavascript:x\n[c](\njavascript:x)\n- [d]: vbscript:x",
      "> [a]\n>\n> [a]\n> [b]\\:\n> javascript:x\n> [c]\\(\n> javascript:x)\n> - [d]",
    ],
    ["code may contain any address", "`[a](javascript:x)`", "> `[a](javascript:x)`"],
    ["an address in angle brackets is text", "[a](<javascript:x y>) b", "> [a] b"],
    ["CR and CRLF are line ends too", "a\r\n```\rb", "> a\n> ```\n> b"],
  ];
  it("takes linear time", () => {
    for (const part of ["](", "[a](x:", "[a](x: ", "&#1;", "](\\"]) quoteMarkdown(part.repeat(50_000));
  });
  for (const [what, markdown, expected] of cases)
    it(what, () => assert.equal(quoteMarkdown(markdown), expected));
});
