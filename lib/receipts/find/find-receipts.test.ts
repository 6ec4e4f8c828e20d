import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findReceipts } from "./find-receipts.ts";
import type { Receipt, ReceiptJob } from "./receipt.ts";

const find = (value: unknown, texts: string[], more: Partial<ReceiptJob> = {}): Receipt[] =>
  findReceipts({
    value,
    schema: {},
    texts: texts.map((text, index) => ({ text, seq: index + 1, url: null })),
    citations: [],
    pictures: new Map(),
    isWhole: true,
    ...more,
  });
const statusOf = (value: unknown, text: string) => find({ value }, [text])[0]?.status;

describe("a value in another form", () => {
  const seen: [what: string, value: string | number, text: string][] = [
    ["letter case and white space", "Harbour Paper Co.", "HARBOUR   paper\u00a0Co."],
    ["quotes and dashes", "The “big” one – here", 'The "big" one - here'],
    ["entities", "Fish & Chips", "Fish &amp; Chips"],
    ["punctuation", "12 Main St, Springfield", "12 Main St.\nSpringfield"],
    ["a number with groups", 1234.5, "Total 1,234.50"],
    ["a number with a decimal comma", 1234.5, "Summe 1.234,50 €"],
    ["a number with apostrophes", 12345, "CHF 12’345.00"],
    ["a number with narrow spaces", 1234567, "1\u202f234\u202f567 habitants"],
    ["an Indian number", 1234567, "₹ 12,34,567"],
    ["a percentage as a share", 0.125, "12.5 % off"],
    ["a number in millions", 3_500_000, "3.5 million people"],
    ["a negative number", -12.5, "−12.50 °C"],
    ["a price with its code", "1299.00 EUR", "€ 1.299,00"],
    ["a price whose fraction is apart", 19.99, '"€" bold "19" superscript "99"'],
    ["a German date", "2026-03-01", "Ab 1. März 2026"],
    ["a French date", "2026-03-01", "le 1er mars 2026"],
    ["an English date", "2026-03-01", "Sunday, March 1st, 2026"],
    ["a numeric date", "2026-03-14", "14.03.2026"],
    ["an American date", "2026-03-14", "3/14/26"],
    ["a Japanese date", "2026-03-14", "2026年3月14日"],
    ["a month", "2026-03", "März 2026"],
    ["a date with its time", "2026-03-14T15:30:00Z", "14 March 2026, 3:30 pm"],
    ["a telephone number", "+32 2 123 45 67", "Tel. +32(0)2/123.45.67"],
    ["a relative address", "https://shop.example/items/42", 'link "Shoe" [e3] to "/items/42"'],
    ["an escaped text of JSON", 'Café "Noir"', '{"name": "Caf\\u00e9 \\"Noir\\"", "cut": '],
    ["a text without spaces", "東京駅前", "明日は東京駅前で会いましょう"],
  ];
  for (const [what, value, text] of seen)
    it(`${what} is seen`, () => assert.equal(statusOf(value, text), "seen"));

  const unseen: [what: string, value: string | number, text: string][] = [
    ["a part of a longer number", 9.99, "119.99"],
    ["a beginning of a longer number", 1234, "1234.56"],
    ["the digits of an article number", 1234, "SKU1234"],
    ["a part of a word", "Paper", "Paperback"],
    ["another currency", "1299.00 USD", "€ 1.299,00"],
    ["another time", "2026-03-14T16:30:00Z", "14 March 2026, 3:30 pm"],
    ["another year", "2025-03-14", "14.03.2026"],
    ["a positive number for a negative one", -12.5, "12.50"],
    ["words in another order", "Paper Harbour", "Harbour Paper"],
    ["a longer path", "https://shop.example/items/42", 'link "Shoe" [e3] to "/items/421"'],
  ];
  for (const [what, value, text] of unseen)
    it(`${what} is unseen`, () => assert.equal(statusOf(value, text), "unseen"));
});

describe("receipts", () => {
  it("leave out what the schema fixes, booleans, null and empty texts", () => {
    const schema = {
      $defs: { kind: { anyOf: [{ const: "shop" }, { enum: ["blog", 3] }] } },
      properties: {
        kind: { $ref: "#/$defs/kind" },
        list: { type: "array", items: { properties: { size: { enum: ["S", "M"] }, note: {} } } },
      },
    };
    const value = {
      kind: "shop",
      list: [{ size: "M", note: "word" }, { size: "XXL" }],
      on: true,
      none: null,
      empty: " ",
    };
    assert.deepEqual(
      find(value, [], { schema }).map(({ pointer }) => pointer),
      ["/list/0/note", "/list/1/size"],
    );
  });

  it("are weak for short values, and for values in many places of one text", () => {
    const [short, usual, twice] = find({ short: 7, usual: "Antwerp", twice: "Ghent" }, [
      `7 ${"Antwerp ".repeat(6)} Ghent`,
      "Ghent",
      "Ghent",
      "Ghent",
      "Ghent",
      "Ghent",
    ]);
    assert.deepEqual([short?.status, usual?.status, twice?.status], ["weak", "weak", "seen"]);
  });

  it("are unchecked instead of unseen if not everything was searched", () => {
    assert.equal(find({ value: "nowhere" }, [], { isWhole: false })[0]?.status, "unchecked");
  });

  it("do not count what the agent wrote into its script", () => {
    const text = { text: "Result: Ghent", seq: 1, url: null, authored: "return 'Ghent'" };
    assert.equal(find({ value: "Ghent" }, [], { texts: [text] })[0]?.status, "unseen");
  });

  it("take a cited value for derived only if all that it comes from is there", () => {
    const citations = [
      { value: 30.75, from: ["10.25", "20.50"] },
      { value: 99.5, from: ["10.25", "89.25"] },
    ];
    const list = find({ sum: 30.75, wrong: 99.5 }, ["10.25 and 20.50"], { citations });
    assert.deepEqual(
      list.map(({ status }) => status),
      ["derived", "unseen"],
    );
  });

  it("find the row of a single record among the rows of a page", () => {
    const page =
      'table\n  | "Basic" | "9.99" | "2026-03-01"\n  | "Medium" | "19.99" | "2026-04-02"\n  | "Large" | "29.99" | "2026-05-03"';
    const list = find({ name: "Medium", price: 29.99, from: "2026-04-02" }, [page]);
    assert.deepEqual(
      list.map(({ status }) => status),
      ["seen", "elsewhere", "seen"],
    );
  });

  it("name the page that the text itself names, with its picture", () => {
    const text =
      'Snapshot.\n<data-0123456789ab>\n"Shop" https://shop.example/a (viewport 1×1)\n"Ghent"\n</data-0123456789ab>';
    const pictures = new Map([["https://shop.example/a", "evi_a"]]);
    assert.deepEqual(find({ value: "Ghent" }, [text], { pictures })[0]?.sources, [
      { seq: 1, url: "https://shop.example/a", quote: "Ghent", picture: "evi_a" },
    ]);
  });

  it("take no longer for hostile texts than for others of their length", () => {
    const size = 300_000;
    const hostile = [
      "<div>".repeat(size / 5),
      "1,".repeat(size / 2),
      '"'.repeat(size),
      "[".repeat(size),
      "( ".repeat(size / 2),
      "1 ".repeat(size / 2),
      "\\u".repeat(size / 2),
      `${" ".repeat(size)}x`,
    ];
    for (const text of hostile) {
      // Measures the CPU time of this thread, so that other processes on the machine do not affect the test.
      const before = process.threadCpuUsage();
      find({ name: "Ghent", price: 9.99, from: "2026-03-01", phone: "+32 2 123 45 67" }, [text]);
      assert.ok(process.threadCpuUsage(before).user < 4_000_000, text.slice(0, 5));
    }
  });
});
