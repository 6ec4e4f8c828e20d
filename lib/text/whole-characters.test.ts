import assert from "node:assert/strict";
import { test } from "node:test";
import { beginningOf, createCharacterJoiner, endOf } from "./whole-characters.ts";

const CAT = "🐈";

test("a text that is cut anywhere keeps whole characters, at most as many units as allowed", () => {
  const text = `a${CAT}é${CAT}${CAT}z`;
  for (let max = 0; max <= text.length + 2; max++) {
    for (const part of [beginningOf(text, max), endOf(text, max)])
      assert.ok(part.isWellFormed(), `${max}: ${JSON.stringify(part)}`);
    assert.ok(beginningOf(text, max).length <= max && text.startsWith(beginningOf(text, max)));
    assert.ok(endOf(text, max).length <= max && text.endsWith(endOf(text, max)));
    assert.ok(beginningOf(text, max).length >= Math.min(max, text.length) - 1);
  }
});

test("the source of beginningOf works by itself, because pages get it as source", () => {
  assert.equal(new Function(`return (${beginningOf})("a${CAT}", 2)`)(), "a");
});

test("joined pieces have whole characters only, and nothing is lost or repeated", () => {
  const text = `${CAT} a ${CAT}${CAT}`;
  for (let size = 1; size <= 4; size++) {
    const join = createCharacterJoiner();
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += size) pieces.push(join(text.slice(at, at + size)));
    assert.ok(pieces.every((piece) => piece.isWellFormed()));
    assert.equal(pieces.join(""), text);
  }
});
