import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isInexact, isMultipleOf } from "./decimal.ts";

test("a whole number is inexact if JavaScript changes it", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(3), (whole, zeros) => {
      const parsed = Number(whole);
      const isChanged = BigInt(parsed.toLocaleString("en-US", { useGrouping: false })) !== whole;
      const text = zeros === 0 ? `${whole}` : `${whole}.${"0".repeat(zeros)}`;
      assert.equal(isInexact(text, Number(text)), isChanged && !Number.isSafeInteger(parsed), text);
    }),
  );
});

test("every number that JavaScript writes is exact", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(isInexact(JSON.stringify(value), value), false);
    }),
  );
  assert.equal(isInexact("1e400", Number("1e400")), true);
});

test("a product is a multiple of its factors", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -99_999, max: 99_999 }),
      fc.integer({ min: 1, max: 9_999 }),
      fc.nat(6),
      (a, b, scale) => {
        assert.equal(isMultipleOf(Number(`${a * b}e-${scale}`), Number(`${b}e-${scale}`)), true);
        assert.equal(isMultipleOf(Number(`${a * b}e${scale}`), Number(`${b}e-${scale}`)), true);
        if (b > 1)
          assert.equal(isMultipleOf(Number(`${a * b + 1}e-${scale}`), Number(`${b}e-${scale}`)), false);
      },
    ),
  );
});
