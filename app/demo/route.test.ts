import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { GET } from "./route.ts";

const folder = join(import.meta.dirname, "../../public/demo");
const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".html"),
);
const read = (page: string) => readFileSync(join(folder, page), "utf8");

test("/demo redirects to the shop's first page with a relative location", () => {
  const open = (query: string) => GET(new Request(`http://service/demo${query}`));
  assert.equal(open("").status, 307);
  assert.equal(open("").headers.get("location"), "/demo/index.html");
  assert.equal(open("?visitor").headers.get("location"), "/demo/index.html?visitor");
});

for (const page of pages) {
  test(`${page} links only to existing pages of the demo`, () => {
    const addresses = [...read(page).matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(
      (match) => match[1] ?? "",
    );
    for (const address of addresses) {
      if (address.startsWith("#")) continue;
      assert.match(address, /^\/demo\//);
      assert.ok(existsSync(join(folder, address.slice("/demo/".length))), address);
    }
  });

  test(`every field of ${page} has a label, and the page has no inline script or style`, () => {
    const html = read(page);
    const labelled = new Set([...html.matchAll(/<label[^>]* for="([^"]+)"/g)].map((match) => match[1]));
    for (const [, id] of html.matchAll(/<(?:input|select|textarea)[^>]* id="([^"]+)"/g))
      assert.ok(labelled.has(id), id);
    assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/);
  });
}

test("the checkout has required fields, a select, radio buttons, a checkbox and a frame", () => {
  const html = read("checkout.html");
  for (const part of [
    /type="email"[^>]* required/,
    /<select[^>]* required/,
    /type="radio"/,
    /type="checkbox" id="terms"/,
    /<iframe/,
  ]) {
    assert.match(html, part);
  }
});
