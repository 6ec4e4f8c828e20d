import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { matchesAddress, toAddressPattern } from "./match-address.ts";

const piece = fc.constantFrom("a", "b", "/", "?", "#", "*", "**", "***", ".", "x=1", "\n");

test("a glob matches exactly the addresses that its pattern matches", () => {
  const glob = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(""));
  const address = fc
    .array(fc.constantFrom("a", "b", "/", "?", ".", "x=1", "#", "\n"), { maxLength: 8 })
    .map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(glob, address, (url, href) => {
      const expected = new RegExp(toAddressPattern({ url, match: "glob" }), "s").test(href);
      assert.equal(matchesAddress({ url, match: "glob" }, href), expected, `${url} ${href}`);
    }),
    { numRuns: 5_000 },
  );
});

test("a glob with many wildcards is matched in linear steps", () => {
  const url = `https://a.example/${"**x".repeat(8)}!`;
  // The regular expression would need hours.
  assert.equal(matchesAddress({ url, match: "glob" }, `https://a.example/${"x".repeat(8_000)}`), false);
});

test("an excluded address does not match, in the runtime's pattern neither", () => {
  const rule = {
    url: "https://a.example/",
    match: "prefix" as const,
    exclude: [
      { url: "https://a.example/admin", match: "prefix" as const },
      { url: "https://a.example/*/x", match: "glob" as const },
    ],
  };
  const pattern = new RegExp(toAddressPattern(rule), "s");
  for (const [path, expected] of [
    ["", true],
    ["b/y", true],
    ["admin/users", false],
    ["b/x?q=1", false],
    ["b/x/y", true],
  ] as const) {
    assert.equal(matchesAddress(rule, `https://a.example/${path}`), expected, path);
    assert.equal(pattern.test(`https://a.example/${path}`), expected, path);
  }
});
