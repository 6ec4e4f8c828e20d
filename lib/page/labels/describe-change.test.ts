import assert from "node:assert/strict";
import { test } from "node:test";
import type { VariantChange } from "../state/view-types.ts";
import { describeChange, describeEntry, nameChange } from "./describe-change.ts";

/** Joins the parts of a described change into one line. */
function sentenceOf(change: VariantChange): string {
  const { verb, place, target, value } = describeChange(change);
  const shown = value && (value.isCode ? value.text : `“${value.text}”`);
  return [verb, change.selector, place, target, shown].filter((part) => part !== null).join(" ");
}

const at = { id: "c1", selector: "#pay" };

test("each kind of change is a sentence", () => {
  const sentences = (
    [
      [{ ...at, op: "setText", text: "Pay now" }, "Text of #pay “Pay now”"],
      [{ ...at, op: "setHtml", html: "<b>Pay</b>" }, "Content of #pay <b>Pay</b>"],
      [{ ...at, op: "setAttribute", name: "href", value: "/a" }, "Attribute href of #pay “/a”"],
      [{ ...at, op: "removeAttribute", name: "disabled" }, "Removed attribute disabled from #pay"],
      [{ ...at, op: "addClass", className: "wide" }, "Added class wide to #pay"],
      [{ ...at, op: "removeClass", className: "wide" }, "Removed class wide from #pay"],
      [
        { ...at, op: "setStyle", style: { color: "red", margin: "0" } },
        "Style of #pay color: red;\nmargin: 0;",
      ],
      [{ ...at, op: "insert", position: "end", html: "<i>!</i>" }, "Inserted at the end of #pay <i>!</i>"],
      [{ ...at, op: "move", position: "before", target: "h1" }, "Moved #pay before h1"],
      [{ ...at, op: "move", position: "start", target: "h1" }, "Moved #pay to the start of h1"],
      [{ ...at, op: "remove" }, "Removed #pay"],
    ] as const satisfies [VariantChange, string][]
  ).map(([change, expected]) => [sentenceOf(change), expected]);
  for (const [actual, expected] of sentences) assert.equal(actual, expected);
});

test("the name of a control shows the beginning of a long selector", () => {
  const name = nameChange({ id: "c1", op: "remove", selector: `main ${"> div ".repeat(50)}` });
  assert.ok(name.startsWith("Removed main > div") && name.endsWith("…") && name.length < 100);
});

test("an entry of a variant says for which addresses and when its changes are applied", () => {
  const exclude = ["a", "b", "c", "d"].map((name) => ({
    url: `https://shop.example/${name}`,
    match: "path" as const,
  }));
  assert.equal(describeEntry({ match: "exact" }), "Only this address");
  assert.equal(
    describeEntry({ match: "prefix", exclude, when: "load" }),
    "Addresses that begin with this, except shop.example/a, shop.example/b, shop.example/c and 1 more, applied when the page has loaded",
  );
  assert.equal(
    describeEntry({ match: "path", exclude: [], when: "#app" }),
    "This address with any query, applied when #app exists",
  );
});
