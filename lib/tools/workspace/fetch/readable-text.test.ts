import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readableText } from "./readable-text.ts";

const read = (html: string) => readableText(html, "https://shop.example/a/b");

describe("a page as readable text", () => {
  const table: [title: string, html: string, text: string][] = [
    ["headings carry their level", "<h2>Two</h2>text<h3>Three</h3>", "## Two\n\ntext\n\n### Three"],
    ["paragraphs are separated, white space collapses", "<p>a\n  b</p><p>c</p>", "a b\n\nc"],
    ["list entries begin with a dash", "<ul><li>one<li>two</ul>", "- one\n- two"],
    [
      "rows of a table stay in one line",
      "<table><tr><td>a<td>b</tr><tr><th>c</th></tr></table>",
      "| a | b\n| c",
    ],
    [
      "links get absolute addresses",
      '<p>to <a href="../c?x=1&amp;y=2">C</a>.</p>',
      "to [C](https://shop.example/c?x=1&y=2).",
    ],
    ["scripts in links are dropped", '<a href="javascript:x()">a</a> <a href="#top">b</a>', "a b"],
    [
      "pictures are shown by their description",
      '<img src=x alt="A red &quot;shoe&quot;">',
      '[image: A red "shoe"]',
    ],
    [
      "scripts, styles, templates and drawings are left out",
      "a<script>if (a<b) x('</p>')</script><style>p{}</style><template><p>t</p></template><svg><text>s</text></svg>b",
      "ab",
    ],
    ["comments and declarations are left out", "<!doctype html>a<!-- <b>x</b> -->b<?php x ?>c", "abc"],
    [
      "form fields are described",
      '<label>Mail <input type=email name="mail" required></label><input type=hidden name=t>',
      'Mail [input type="email" name="mail" required]',
    ],
    [
      "references are decoded",
      "&lt;b&gt; &#8364;&#x20AC; &unknown; &amp;amp; AT&T",
      "<b> €€ &unknown; &amp; AT&T",
    ],
    ["preformatted text keeps its lines", "<pre>a\n  b</pre>", "a\n  b"],
    ["a lone < is text", "1 < 2 and 3 <4", "1 < 2 and 3 <4"],
    ["the title comes first", "<head><title> My\n shop </title></head><body>x", "Title: My shop\n\nx"],
    ["a drawing that never ends does not hide the page", "<svg><path>a<p>seen</p>", "seen"],
    ["an unfinished tag ends the text", 'a <b title="x', "a"],
    ["an empty page is an empty text", "", ""],
  ];
  for (const [title, html, text] of table) it(title, () => assert.equal(read(html), text));

  const size = 500_000;
  const hostile: [title: string, html: string][] = [
    ["deep nesting", "<div>".repeat(size / 5)],
    [
      "one tag with countless attributes",
      `<a ${Array.from({ length: size / 8 }, (_, n) => `a${n}=1`).join(" ")}>`,
    ],
    ["countless links", "<a href=x>y".repeat(size / 11)],
    ["countless unclosed comments and quotes", '<!--<a b="<!--'.repeat(size / 14)],
    ["countless ampersands", "&#&x&amp".repeat(size / 8)],
    ["countless unclosed raw texts", "<title><textarea><script>".repeat(size / 25)],
    ["nothing but <", "<".repeat(size)],
  ];
  for (const [title, html] of hostile) {
    it(`${title} costs no more than a long page`, () => {
      // Measures the CPU time of this thread (in microseconds), so that other processes on the machine do not affect the
      // test.
      const before = process.threadCpuUsage();
      read(html);
      assert.ok(process.threadCpuUsage(before).user < 2_000_000);
    });
  }

  it("never grows past a million characters", () => {
    const base = `https://shop.example/${"x".repeat(5_000)}/`;
    const text = readableText("<a href=y>z</a>".repeat(5_000), base);
    assert.ok(text.length < 1_020_000);
    assert.match(text, /\[… cut here …\]$/);
  });
});
