import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileHtml } from "./compile-html.ts";

const nodesOf = (text: string) => {
  const compiled = compileHtml(text);
  assert.ok("nodes" in compiled, JSON.stringify(compiled));
  return compiled.nodes;
};
const problemOf = (text: string) => {
  const compiled = compileHtml(text);
  assert.ok("problem" in compiled, text);
  return compiled.problem;
};

describe("compiling HTML", () => {
  test("keeps elements, attributes and texts; comments are left out", () => {
    assert.deepEqual(nodesOf(`<p class="a" hidden>x &amp; <b>y</b><!-- c --></p>z`), [
      ["p", { class: "a", hidden: "" }, ["x & ", ["b", {}, ["y"]]]],
      "z",
    ]);
    assert.deepEqual(nodesOf(""), []);
  });

  test("keeps parts of tables, lists and selects without their parents", () => {
    for (const [tag, html] of [
      ["tr", "<tr><td>1</td></tr>"],
      ["td", "<td>1</td>"],
      ["li", "<li>1</li>"],
      ["option", "<option>1</option>"],
      ["tbody", "<tbody><tr></tr></tbody>"],
      ["col", "<col>"],
    ] as const)
      assert.equal(nodesOf(html)[0]?.[0], tag);
  });

  test("keeps the namespaces of SVG and MathML, and the case of SVG names", () => {
    assert.deepEqual(
      nodesOf(`<svg viewBox="0 0 1 1"><use xlink:href="#a"/><foreignObject><p></p></foreignObject></svg>`),
      [
        [
          "svg",
          { viewBox: "0 0 1 1" },
          [
            ["use", { href: "#a" }, [], "svg"],
            ["foreignObject", {}, [["p", {}, []]], "svg"],
          ],
          "svg",
        ],
      ],
    );
    assert.deepEqual(nodesOf("<math><mi>x</mi></math>"), [["math", {}, [["mi", {}, ["x"], "math"]], "math"]]);
  });

  test("refuses HTML that runs scripts or loads documents", () => {
    for (const html of [
      "<script>1</script>",
      "<svg><script>1</script></svg>",
      "<template><script>1</script></template>",
      "<p onclick=x>",
      "<p OnClick=x>",
      "<a href='javascript:1'>",
      "<a href=' java\nscript:1'>",
      "<a href='\u0001JAVASCRIPT:1'>",
      "<a href='vbscript:1'>",
      "<a href='data:text/html,<b>'>",
      "<form action='javascript:1'>",
      "<button formaction='javascript:1'>",
      "<svg><a xlink:href='javascript:1'></a></svg>",
      "<svg><set attributeName=href to='javascript:1'/></svg>",
      "<svg><animate attributeName=href values='#a;javascript:1'/></svg>",
      "<iframe srcdoc='x' src='https://a.example'></iframe>",
      "<iframe></iframe>",
      "<iframe src='about:blank'></iframe>",
      "<iframe src='data:text/plain,x'></iframe>",
      "<base href='https://a.example'>",
      "<meta http-equiv=refresh content='0;url=x'>",
      "<object data='x'></object>",
      "<embed src='x'>",
      "<p __proto__=x>",
      "<p @click=x>",
      "<a<b>x</a<b>",
    ])
      assert.match(problemOf(html), /^[\w"][^\n]{10,}$/, html);
    assert.equal(
      problemOf("<b onclick=x>"),
      "the event handler attribute onclick is not allowed; add a listener in the page's js instead",
    );
    for (const html of [
      "<iframe src='https://a.example/x'></iframe>",
      "<iframe src='/x'></iframe>",
      "<img src='data:image/svg+xml,<svg/>'>",
      "<a href='/javascript:x'>",
      "<meta name=description content=x>",
      "<p data-onclick=x>",
      "<p title='javascript:1'>",
    ])
      nodesOf(html);
  });

  test("refuses too many nodes, too deep nesting, and HTML whose tree would be huge", () => {
    nodesOf("<i></i>".repeat(2_000));
    assert.equal(problemOf("<i></i>".repeat(2_001)), "must have at most 2,000 nodes");
    nodesOf("<i>".repeat(100));
    assert.equal(problemOf("<i>".repeat(101)), "must be nested at most 100 levels deep");
    assert.match(problemOf("<div>".repeat(20_000)), /^must/);
    // The parser opens all unclosed formatting elements again in every paragraph.
    const formatting = Array.from({ length: 2_000 }, (_, index) => `<b a${index}>`).join("");
    assert.equal(problemOf(formatting + "<p>x".repeat(15_000)), "must have at most 2,000 nodes");
  });
});
