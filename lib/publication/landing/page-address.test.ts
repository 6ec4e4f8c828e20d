import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodePath, isSafeName, readPageAddress } from "./page-address.ts";

test("the address of a file is decoded to its path", () => {
  const name = fc.string({ minLength: 1, unit: "binary" }).filter((text) => isSafeName(text));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      const path = names.join("/");
      const address = `/p/sale/${encodePath(path)}`;
      fc.pre(address.length <= 4_096);
      assert.deepEqual(readPageAddress(address), { slug: "sale", path });
    }),
  );
});

test("no address is decoded to a dot segment, another separator or a control character", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "%2e",
      "%2E%2e",
      "%2f",
      "%5c",
      "\\",
      "%00",
      "%25",
      "%252e",
      "/",
      "%c0%ae",
      "%",
      "a",
    ),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const found = readPageAddress(`/p/sale/${pieces.join("")}`);
      const names = found?.path?.split("/") ?? [];
      for (const [index, each] of names.entries()) {
        assert.ok(each !== "" || index === names.length - 1);
        assert.ok(each !== "." && each !== ".." && !/[\\\p{Cc}]/u.test(each));
      }
    }),
    { numRuns: 2_000 },
  );
});
