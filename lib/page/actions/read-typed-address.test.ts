import assert from "node:assert/strict";
import { test } from "node:test";
import { readTypedAddress } from "./read-typed-address.ts";

const ADDRESSES: [typed: string, url: string][] = [
  ["https://shop.example/checkout", "https://shop.example/checkout"],
  ["HTTP://shop.example/a b?c=d e", "HTTP://shop.example/a b?c=d e"],
  ["  shop.example ", "https://shop.example"],
  ["shop.example/search?q=red shoes", "https://shop.example/search?q=red shoes"],
  ["shop.example?q=a@b", "https://shop.example?q=a@b"],
  ["shop.example.", "https://shop.example."],
  ["münchen.example", "https://münchen.example"],
  ["shop.example:443/x", "https://shop.example:443/x"],
  ["shop.example:81", "http://shop.example:81"],
  ["localhost", "http://localhost"],
  ["localhost:3000/demo", "http://localhost:3000/demo"],
  ["app.localhost", "http://app.localhost"],
  ["intranet:8080", "http://intranet:8080"],
  ["http://intranet/", "http://intranet/"],
  ["192.0.2.7/login", "http://192.0.2.7/login"],
  ["[2001:db8::1]:8080", "http://[2001:db8::1]:8080"],
];
for (const [typed, url] of ADDRESSES)
  test(`"${typed}" is the address ${url}`, () => {
    assert.deepEqual(readTypedAddress(typed), { isAddress: true, url });
  });

const WORDS = [
  "search words",
  "shoes",
  "what is shop.example",
  "a.example or b.example",
  "and/or",
  "3.14",
  "v1.2",
  "https://search words",
  "https://",
  "http:shop.example",
  "name@shop.example",
  "a..b",
  ".",
  "?",
  "//x",
  "shop.example:99999",
  "1.2.3.400",
  "note: call back",
  "[not an address]",
];
for (const typed of WORDS)
  test(`"${typed}" is not an address, and is quoted as typed`, () => {
    const read = readTypedAddress(typed);
    assert.ok(!read.isAddress);
    assert.ok(read.problem.startsWith(`"${typed}" is not an address.`), read.problem);
  });

for (const typed of [
  "javascript:alert(1)",
  "file:///etc/passwd",
  "mailto:a@shop.example",
  "ftp://shop.example",
])
  test(`"${typed}" is refused because of its scheme`, () => {
    const read = readTypedAddress(typed);
    assert.ok(!read.isAddress);
    assert.match(read.problem, /Only http and https addresses can be opened, not "\w+:"/);
  });

test("an empty field asks for an address, and a long text is cut in the sentence", () => {
  const [empty, long] = [readTypedAddress("  "), readTypedAddress("word ".repeat(100))];
  assert.ok(!empty.isAddress && !long.isAddress);
  assert.match(empty.problem, /^Type an address/);
  assert.ok(long.problem.length < 200);
});
