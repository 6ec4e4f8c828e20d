import assert from "node:assert/strict";
import { test } from "node:test";
import { createNumbers, makeExtractions } from "../testing/extractions.ts";
import { findReceipts } from "./find-receipts.ts";
import type { ReceiptStatus } from "./receipt.ts";

type Planted = { pointer: string; kind: "invented" | "moved" };

/** Changes one digit of a text to another one. */
const changeDigit = (text: string, next: (below: number) => number): string => {
  const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const at = digits[next(digits.length)] ?? 0;
  return `${text.slice(0, at)}${(Number(text[at]) + 1 + next(8)) % 10}${text.slice(at + 1)}`;
};

test("invented values and values of other rows are found, and true values are left in peace", (context) => {
  const counts = { invented: 0, caught: 0, moved: 0, placed: 0, true: 0, wronged: 0 };
  const misses: string[] = [];
  makeExtractions().forEach(({ title, texts, rows }, seed) => {
    const next = createNumbers(seed + 500);
    const items = structuredClone(rows);
    const is = JSON.stringify(rows);
    const planted: Planted[] = [];
    const plant = (
      row: number,
      field: "price" | "sku" | "from" | "seller",
      kind: Planted["kind"],
      value: string | number,
    ) => {
      const item = items[row];
      if (!item || (kind === "invented" && is.includes(String(value)))) return;
      Object.assign(item, { [field]: value });
      planted.push({ pointer: `/items/${row}/${field}`, kind });
    };
    plant(0, "price", "invented", 3_000 + next(900) + 0.37);
    plant(1, "sku", "invented", changeDigit(rows[1]?.sku ?? "", next));
    plant(2, "from", "invented", `2029-0${1 + next(9)}-1${next(9)}`);
    plant(3, "price", "invented", Number(changeDigit((rows[3]?.price ?? 0).toFixed(2), next)));
    plant(4, "from", "moved", rows[1 + next(3)]?.from ?? "");
    plant(5, "price", "moved", rows[2 + next(2)]?.price ?? 0);
    plant(6, "seller", "moved", rows[next(5)]?.seller ?? "");
    const receipts = findReceipts({
      value: { items },
      schema: {},
      texts,
      citations: [],
      pictures: new Map(),
      isWhole: true,
    });
    for (const { pointer, status } of receipts) {
      const kind = planted.find((each) => each.pointer === pointer)?.kind;
      const isWronged = status === "unseen" || status === "elsewhere";
      if (kind === "invented")
        counts.caught += note(++counts.invented, status === "unseen", title, pointer, status);
      else if (kind === "moved")
        counts.placed += note(++counts.moved, status === "elsewhere", title, pointer, status);
      else counts.wronged += 1 - note(++counts.true, !isWronged, title, pointer, status);
    }
  });
  function note(_: number, isRight: boolean, title: string, pointer: string, status: ReceiptStatus): number {
    if (!isRight) misses.push(`${title}: ${pointer} is ${status}`);
    return isRight ? 1 : 0;
  }
  const share = (part: number, whole: number) =>
    `${part} of ${whole} (${((100 * part) / whole).toFixed(2)} %)`;
  context.diagnostic(`inventions unseen: ${share(counts.caught, counts.invented)}`);
  context.diagnostic(`values of other rows elsewhere: ${share(counts.placed, counts.moved)}`);
  context.diagnostic(`true values unseen or elsewhere: ${share(counts.wronged, counts.true)}`);
  for (const miss of misses) context.diagnostic(miss);
  assert.ok(counts.invented >= 200 && counts.moved >= 150 && counts.true > 2_000, JSON.stringify(counts));
  assert.ok(counts.caught / counts.invented >= 0.99);
  assert.ok(counts.placed / counts.moved >= 0.99);
  assert.ok(counts.wronged / counts.true <= 0.02);
});
