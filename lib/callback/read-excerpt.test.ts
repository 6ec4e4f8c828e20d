import assert from "node:assert/strict";
import { test } from "node:test";
import { readExcerpt } from "./send-callback.ts";

const excerpt = (text: string) => readExcerpt(Buffer.from(text));

test("the beginning of a response is stored as text", () => {
  assert.equal(excerpt("  <b>no</b>\n\tqueue  "), "<b>no</b>\n\tqueue");
  assert.equal(excerpt("é".repeat(900)), "é".repeat(500));
  assert.equal(excerpt("👩‍🚀".repeat(300))?.isWellFormed(), true);
});

test("control characters, bidi marks and invalid bytes are removed", () => {
  assert.equal(excerpt("a\0b\u001b[31mc\u202edd\u2066e\u200bf\r\n\u0085g"), "ab[31mcddef\ng");
  assert.equal(readExcerpt(Buffer.from([0xff, 0xfe, 0x6f, 0x6b, 0xe2, 0x82])), "ok");
});

test("a response without text has no excerpt", () => {
  for (const text of ["", "   \n", "\0\0\0"]) assert.equal(excerpt(text), null);
});
