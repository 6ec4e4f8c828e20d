import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeDifference } from "./describe-difference.ts";
import { EMPTY, HOME, page, text } from "./document-testing.ts";

describe("the difference of two documents", () => {
  it("names each added, altered and dropped change, and altered sheets", () => {
    const before = { pages: [page(HOME, text("c1", "One"), text("c2", "Two"))] };
    const after = { pages: [{ ...page(HOME, text("c1", "New"), text("c3", "Three")), css: "p {}" }] };
    assert.deepEqual(describeDifference(before, after), [
      `altered ${JSON.stringify(text("c1", "New"))}`,
      `added ${JSON.stringify(text("c3", "Three"))}`,
      `dropped ${JSON.stringify(text("c2", "Two"))}`,
      `altered css of ${HOME}: "p {}"`,
    ]);
    assert.deepEqual(describeDifference(before, before), []);
    const off = { pages: [page(HOME, { ...text("c1", "One"), off: true }, text("c2", "Two"))] };
    const switched = JSON.stringify(off.pages[0]?.changes[0]);
    assert.deepEqual(describeDifference(before, off), [`switched off ${switched}`]);
    assert.deepEqual(describeDifference(off, before), [`switched on ${JSON.stringify(text("c1", "One"))}`]);
  });

  it("shows the sheets of a page that the older document does not have, and cuts long ones", () => {
    const added = { pages: [{ ...page(HOME), css: "p {}", js: "x()".repeat(2_000) }] };
    const [css, js, ...more] = describeDifference(EMPTY, added);
    assert.deepEqual([css, more], [`altered css of ${HOME}: "p {}"`, []]);
    assert.ok(js?.startsWith(`altered js of ${HOME}: "x()x()`) && js.endsWith("…") && js.length < 2_100);
  });

  it("names the altered settings of a page, dropped pages, and changes that another page has now", () => {
    const exclude = [{ url: `${HOME}help`, match: "prefix" as const }];
    const before = {
      pages: [
        { ...page(HOME, text("c1", "One")), when: "load" },
        { ...page(`${HOME}cart`), exclude },
        { ...page(`${HOME}old`), css: "p {}" },
      ],
    };
    const after = {
      pages: [
        { ...page(HOME), exclude },
        { ...page(`${HOME}cart`, text("c1", "One")), when: "#app" },
      ],
    };
    assert.deepEqual(describeDifference(before, after), [
      `moved to the page ${HOME}cart: ${JSON.stringify(text("c1", "One"))}`,
      `altered exclude of ${HOME}: ${JSON.stringify(exclude)}`,
      `removed when of ${HOME}`,
      `altered when of ${HOME}cart: "#app"`,
      `removed exclude of ${HOME}cart`,
      `dropped the page ${HOME}old (match: path)`,
    ]);
    const whole = describeDifference(EMPTY, after);
    assert.ok(
      whole.includes(`altered when of ${HOME}cart: "#app"`),
      "a listing of the whole variant has them too",
    );
  });
});
