import assert from "node:assert/strict";
import { test } from "node:test";
import { readableTextOn, readColor } from "./colors.ts";
import { readLook, styleOf } from "./look.ts";

test("colors are CSS names or hex", () => {
  assert.equal(readColor("Dark Green"), "darkgreen");
  assert.equal(readColor("#0A7"), "#0a7");
  for (const words of ["greenish", "#12345", "red; display: none", "url(x)", ""])
    assert.equal(readColor(words), undefined);
});

test("text on a color is black or white, depending on the contrast", () => {
  for (const color of ["green", "navy", "#333", "purple", "black"])
    assert.equal(readableTextOn(color), "#fff");
  for (const color of ["yellow", "#0a7", "white", "red", "gold"]) assert.equal(readableTextOn(color), "#000");
});

test("a color fills an area, and colors the text of other elements", () => {
  const green = readLook("green");
  assert.ok(green);
  assert.deepEqual(styleOf(green, true, undefined), { background: "green", color: "#fff" });
  assert.deepEqual(styleOf(green, true, "color"), { background: "green", color: "#fff" });
  assert.deepEqual(styleOf(green, true, "text"), { color: "green" });
  assert.deepEqual(styleOf(green, false, undefined), { color: "green" });
  assert.deepEqual(styleOf(green, false, "background"), { background: "green", color: "#fff" });
});

test("a look has several parts, and one unknown part makes it undefined", () => {
  assert.deepEqual(readLook("a bit bigger, bold and dark green"), {
    color: "darkgreen",
    styles: { zoom: "1.25", "font-weight": "bold" },
  });
  assert.deepEqual(readLook("white on #0a7"), { textColor: "white", background: "#0a7", styles: {} });
  assert.deepEqual(readLook("red text on a yellow background"), {
    textColor: "red",
    background: "yellow",
    styles: {},
  });
  for (const words of ["nicer", "bold and sparkling", "Winter sale", ""])
    assert.equal(readLook(words), undefined);
});
