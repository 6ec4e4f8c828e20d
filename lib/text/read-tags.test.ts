import assert from "node:assert/strict";
import { test } from "node:test";
import { readTags } from "./read-tags.ts";

function read(html: string): string[] {
  const found: string[] = [];
  readTags(html, {
    onStart: (tag, attributes) =>
      found.push([tag, ...attributes.map(({ name, value }) => `${name}=${value}`)].join(" ")),
    onEnd: (tag) => found.push(`/${tag}`),
    onText: (piece) => found.push(JSON.stringify(piece)),
  });
  return found;
}

test("tags and texts are read in order, in lower case and with their references decoded", () => {
  assert.deepEqual(read('<A HREF="/x?a&amp;b" hidden>1 &lt; 2</A>'), [
    "a href=/x?a&b hidden=",
    '"1"',
    '" "',
    '"<"',
    '" "',
    '"2"',
    "/a",
  ]);
});

test("the content of scripts, styles, titles and text areas is text, and comments are nothing", () => {
  for (const tag of ["script", "style", "title", "textarea"])
    assert.deepEqual(read(`<${tag}><b></${tag}><!-- <i> --><u>`), [tag, '"<b>"', `/${tag}`, "u"], tag);
});

test("broken markup never throws", () => {
  for (const html of ["", "<", "<a", "<a b='", "</", "<!--", "<script>", "\0<a\0>", "<![CDATA[x]]>"])
    read(html);
});
