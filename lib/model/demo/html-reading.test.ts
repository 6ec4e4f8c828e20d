import assert from "node:assert/strict";
import { test } from "node:test";
import { readHtml } from "./html-reading.ts";

const named = (html: string) => {
  const { title, elements } = readHtml(html, "https://s.example/");
  return { title, elements: elements.map(({ role, name }) => `${role} ${name}`) };
};

test("fields come first, with the names of their labels, then forms, headings, links and buttons", () => {
  const html = `<title>S &amp; T</title><h1>One</h1><a href="/x">More <b>of it</b></a><form id="f">
    <input id="e" required><label for="e">Email</label><input type="hidden" name="h"><select name="size"></select>
    <button>Send</button></form>`;
  assert.deepEqual(named(html), {
    title: "S & T",
    elements: ["textbox Email", "combobox size", "form f", "heading One", "link More of it", "button Send"],
  });
  assert.equal(readHtml(html, "").elements[0]?.required, true);
});

test("comments, scripts and attributes contain no elements, and all character references are decoded", () => {
  const html = `<!-- <h1>Old</h1> --><script>"<h2>Not this</h2>"</script><textarea name="note"><h3>Nor this</h3></textarea>
    <h1 title="a > b">Caf&eacute; &#x2014; <img alt="<h2>x</h2>">open</h1><a href=/y>Un<b>closed`;
  assert.deepEqual(named(html), { title: undefined, elements: ["textbox note", "heading Café — open"] });
});

test("a text without tags is read line by line", () => {
  assert.deepEqual(named("# One\n\ntwo").elements, ["heading One", "paragraph two"]);
});

test("hostile HTML is read in bounded time", () => {
  // Measures CPU time, in microseconds, because other processes do not influence it.
  const before = process.threadCpuUsage();
  for (const piece of ["<a>x", "<h1><b><i>", "<"]) {
    const html = piece.repeat(300_000 / piece.length);
    assert.ok(readHtml(`<p>${html}`, "").elements.length <= 300_000 / piece.length);
  }
  assert.ok(process.threadCpuUsage(before).user < 10_000_000);
});
