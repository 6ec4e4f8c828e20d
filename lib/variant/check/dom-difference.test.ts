import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DomNode } from "#lib/injected/check/snapshot-dom.ts";
import { listDifferences, withoutNoise } from "./dom-difference.ts";

const text = (content: string): DomNode => ({
  name: "#text",
  attributes: {},
  text: content,
  children: [],
  changeId: null,
});
const element = (
  name: string,
  children: (DomNode | string)[] = [],
  attributes: Record<string, string> = {},
  changeId: string | null = null,
): DomNode => ({
  name,
  attributes,
  text: "",
  children: children.map((child) => (typeof child === "string" ? text(child) : child)),
  changeId,
});

const describeAll = (control: DomNode, other: DomNode) =>
  listDifferences(control, other).map(({ description, changeId }) => [description, changeId]);

describe("differences of documents", () => {
  test("equal documents have none, whatever the order of attributes", () => {
    const one = element("body", [element("p", ["A"], { id: "a", class: "b" })]);
    const other = element("body", [element("p", ["A"], { class: "b", id: "a" })]);
    assert.deepEqual(listDifferences(one, other), []);
  });

  test("a node that was left is named with its place, and the rest still matches", () => {
    const control = element("body", [element("h1", ["A"]), element("p", ["B"]), element("div")]);
    const other = element("body", [
      element("h1", ["A"]),
      element("p", ["Note"], { class: "note" }, "c1"),
      element("p", ["B"]),
      element("div"),
    ]);
    assert.deepEqual(describeAll(control, other), [['<p class="note"> was left in the document', "c1"]]);
    assert.deepEqual(describeAll(other, control), [['<p class="note"> is missing in the document', null]]);
  });

  test("texts and attributes of paired nodes are compared; the change around them is named", () => {
    const control = element("body", [element("p", ["Old"], { id: "a", title: "x" })]);
    const other = element("body", [element("p", ["New"], { id: "a", lang: "en" }, "c2")]);
    assert.deepEqual(describeAll(control, other), [
      ["p#a lost the attribute title", "c2"],
      ['p#a has the attribute lang="en"', "c2"],
      ['the text of p#a > #text is "New" instead of "Old"', "c2"],
    ]);
  });
});

describe("noise", () => {
  const clock = (time: string, note?: DomNode) =>
    element("body", [element("p", [time], { id: "clock" }), element("p", ["Calm"]), ...(note ? [note] : [])]);

  test("only differences that also exist among controls are left out", () => {
    const noise = listDifferences(clock("1"), clock("2"));
    const note = element("aside", ["Note"], {}, "c1");
    const found = withoutNoise(listDifferences(clock("1"), clock("3", note)), noise);
    assert.deepEqual(
      found.map(({ description }) => description),
      ["<aside> was left in the document"],
    );
  });

  test("a third sibling's change is noise if two siblings change without the variant, but not if only one does", () => {
    const list = (...items: string[]) =>
      element(
        "ul",
        items.map((item) => element("li", [item])),
      );
    const two = listDifferences(list("a", "b", "c"), list("x", "y", "c"));
    assert.deepEqual(withoutNoise(listDifferences(list("a", "b", "c"), list("a", "b", "z")), two), []);
    const one = listDifferences(list("a", "b", "c"), list("x", "b", "c"));
    assert.equal(withoutNoise(listDifferences(list("a", "b", "c"), list("a", "b", "z")), one).length, 1);
  });
});
