import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChangeInput, VariantDocument } from "./document.ts";
import { EMPTY, HOME, page, text } from "./document-testing.ts";
import { editChanges, revise } from "./revise.ts";

const add = (document: VariantDocument, ...changes: ChangeInput[]) => {
  const revised = revise(document, { add: changes }, `${HOME}?from=mail#top`);
  assert.ok(revised.ok);
  return revised.document;
};
const idsOf = ({ pages }: VariantDocument) => pages.map(({ changes }) => changes.map(({ id }) => id));

describe("a call that changes a variant", () => {
  it("creates the page entry of the live page by its path, and numbers changes without an id", () => {
    const document = add(EMPTY, { op: "remove", selector: "#banner" }, text("title", "Winter"));
    assert.deepEqual(document.pages[0]?.url, HOME);
    assert.deepEqual(idsOf(document), [["c1", "title"]]);
    assert.deepEqual(Object.keys(document.pages[0]?.changes[0] ?? {})[0], "id");
  });

  it("adds to the entry that matches the live page, and does not use a number of a dropped change again", () => {
    const document = { pages: [page("https://shop.example/cart"), page(HOME, text("c7", "One"))] };
    const revised = revise(document, { drop: ["c7"], add: [{ op: "remove", selector: "p" }] }, HOME);
    assert.ok(revised.ok);
    assert.deepEqual(idsOf(revised.document), [[], ["c8"]]);
  });

  it("gives another id to a change whose id belonged to a change that is gone, and says so", () => {
    const document = { pages: [page(HOME, text("c1", "One"))] };
    const used = { lastNumber: 9, ids: new Set(["c1", "title"]) };
    const changes = [text("c1", "New"), text("c7", "Two"), text("title", "Three"), text("fresh", "Four")];
    const set = [
      page(HOME, ...changes),
      { ...page(`${HOME}cart`), changes: [{ op: "remove" as const, selector: "p" }] },
    ];
    const revised = revise(document, { set }, HOME, used);
    assert.ok(revised.ok);
    assert.deepEqual(idsOf(revised.document), [["c1", "c10", "c11", "fresh"], ["c12"]]);
    assert.deepEqual(
      [...revised.givenIds],
      [
        ["c10", "c7"],
        ["c11", "title"],
      ],
    );
  });

  it("replaces a change that has the same id, in its place", () => {
    const document = { pages: [page(HOME, text("c1", "One"), text("c2", "Two"))] };
    const revised = add(document, text("c1", "New"));
    assert.deepEqual(revised.pages[0]?.changes, [text("c1", "New"), text("c2", "Two")]);
  });

  it("replaces the pages by set, and the style sheet of the live page by css", () => {
    const set = [{ ...page(HOME), changes: [{ op: "remove" as const, selector: "p" }] }];
    const revised = revise({ pages: [page(`${HOME}old`)] }, { set, css: "p { color: red }" }, HOME);
    assert.ok(revised.ok);
    assert.deepEqual(
      [idsOf(revised.document), revised.document.pages[0]?.css],
      [[["c1"]], "p { color: red }"],
    );
  });

  it("is refused for an unknown change to drop, and for a page that is not a web page", () => {
    const unknown = revise({ pages: [page(HOME, text("c1", "One"))] }, { drop: ["c2"] }, HOME);
    assert.deepEqual(unknown, { ok: false, problem: "drop: there is no change c2. The variant has c1." });
    for (const url of [null, "about:blank"]) {
      const nowhere = revise(EMPTY, { add: [text("c1", "One")] }, url);
      assert.ok(!nowhere.ok);
      assert.match(nowhere.problem, /^add: there is no page to add to/);
    }
  });

  it("does not alter the document that it starts from", () => {
    const document = { pages: [page(HOME, text("c1", "One"))] };
    const before = structuredClone(document);
    revise(document, { add: [text("c1", "New")], css: "p {}" }, HOME);
    editChanges(document, [{ action: "off", changeId: "c1" }]);
    assert.deepEqual(document, before);
  });
});
