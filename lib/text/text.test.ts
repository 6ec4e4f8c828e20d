import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf } from "./count-of.ts";
import { httpUrlUpTo } from "./http-url.ts";
import { oneLine } from "./one-line.ts";
import { shorten } from "./shorten.ts";
import { slugOf } from "./slug-of.ts";

test("a count has the singular or the plural of its noun", () => {
  assert.deepEqual(
    [countOf(0, "file"), countOf(1, "file"), countOf(2, "file"), countOf(2, "child", "children")],
    ["0 files", "1 file", "2 files", "2 children"],
  );
});

test("oneLine replaces each run of white space by one space and trims the ends", () => {
  assert.equal(oneLine("  a\n\tb  c\r\n"), "a b c");
});

test("a shortened text has whole characters only, and no more units than it may", () => {
  assert.equal(shorten("short", 5), "short");
  assert.equal(shorten("longer", 5), "long…");
  for (const max of [2, 3, 4, 5, 6]) {
    const cut = shorten("😀😀😀😀", max);
    assert.ok(cut.length <= max && cut.isWellFormed() && cut.endsWith("…"), cut);
  }
  assert.ok(shorten("a\ud83d and more", 5).isWellFormed());
  assert.equal(shorten("\ufeffname", 4), "\ufeffna…");
});

test("a slug has plain letters, digits and hyphens, and no hyphen at its ends", () => {
  assert.equal(slugOf("Späte Änderungen: Größe & Preis!", 60), "spate-anderungen-gro-e-preis");
  assert.equal(slugOf("--- ---", 60), "");
  assert.equal(slugOf("one two three", 8), "one-two");
});

test("an http URL is absolute, has a host, and is no longer than its field allows", () => {
  const field = httpUrlUpTo(30);
  for (const url of ["https://shop.example/a?b#c", "HTTP://shop.example"])
    assert.equal(field.safeParse(url).success, true, url);
  for (const url of [
    "shop.example",
    "/a",
    "ftp://shop.example",
    "https://",
    `https://shop.example/${"a".repeat(20)}`,
  ])
    assert.equal(field.safeParse(url).success, false, url);
});
