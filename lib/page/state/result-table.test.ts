import assert from "node:assert/strict";
import { test } from "node:test";
import { readTable, writeCsv } from "./result-table.ts";

const csvOf = (value: unknown) => {
  const table = readTable(value);
  assert.ok(table);
  return writeCsv(table);
};

test("a list of objects is a table with the columns of all objects, in order of appearance", () => {
  const table = readTable([{ a: 1 }, { b: null, a: "x" }, { c: [1] }]);
  assert.deepEqual(table?.columns, ["a", "b", "c"]);
  assert.deepEqual(table?.rows, [
    [1, undefined, undefined],
    ["x", null, undefined],
    [undefined, undefined, [1]],
  ]);
});

test("an object with exactly one list of objects is a table", () => {
  assert.deepEqual(readTable({ title: "t", fields: [{ a: 1 }] })?.rows, [[1]]);
  const others = [
    { title: "t" },
    { fields: [] },
    { fields: ["text"] },
    { fields: [{ a: 1 }, 2] },
    { one: [{ a: 1 }], two: [] },
    { nested: { fields: [{ a: 1 }] } },
    [{}],
    "text",
    null,
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`c${index}`, 1]))],
  ];
  for (const value of others) assert.equal(readTable(value), undefined, JSON.stringify(value));
});

test("CSV quotes commas, quotes and line breaks, and writes nested values as JSON", () => {
  const rows = [{ name: 'He said "yes", twice', note: "two\nlines", more: { a: [1, "b"] }, none: null }];
  assert.equal(
    csvOf(rows),
    'name,note,more,none\r\n"He said ""yes"", twice","two\nlines","{""a"":[1,""b""]}",\r\n',
  );
});

test("CSV protects texts that a spreadsheet would execute, but not numbers", () => {
  for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
    assert.equal(csvOf([{ a: text }]), `a\r\n'${text}\r\n`, text);
  assert.equal(csvOf([{ a: "\r=1" }]), 'a\r\n"\'\r=1"\r\n');
  assert.equal(csvOf([{ a: '=HYPERLINK("x","y")' }]), 'a\r\n"\'=HYPERLINK(""x"",""y"")"\r\n');
  assert.equal(csvOf([{ a: -1.5, b: true, "=c": "a=b" }]), "a,b,'=c\r\n-1.5,true,a=b\r\n");
});
