import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startSite, startTestBrowser, type TestBrowser } from "#lib/tools/browser/test-fixture.ts";
import type { VariantDocument } from "../document.ts";
import { groundChanges } from "./ground-changes.ts";

/** Makes the page answer with a value of its own where the runtime would report on the variant. */
const forge = (report: string) => `<h1>Book</h1><script>
  const main = { update() {}, revert() {}, report: () => ${report} };
  Object.defineProperty(window, "__agentSessionVariants", { value: { main } });
</script>`;
const change = (fields: string) =>
  `({ url: "", pages: 1, isHydrating: false, scriptError: null, changes: ${fields} })`;
const FORGED = {
  "/number": "5",
  "/text": '"applied"',
  "/changes": change('"x"'),
  "/states": change(
    '[{ id: "c1", state: "fine", matches: 1, applied: 1, reapplied: 0, appliedAtMs: 1, error: null }]',
  ),
  "/counts": change(
    '[{ id: "c1", state: "applied", matches: -1, applied: "1", reapplied: 0, appliedAtMs: 1, error: null }]',
  ),
  "/many": change(
    'Array(5000).fill({ id: "c1", state: "applied", matches: 1, applied: 1, reapplied: 0, appliedAtMs: 1, error: null })',
  ),
  "/endless": "{ for (;;); }",
  "/throws": '{ throw new Error("forged"); }',
};
const LONG = change(
  '[{ id: "c1", state: "error", matches: 1, applied: 1, reapplied: 0, appliedAtMs: 1, error: "x".repeat(1e6) }]',
);
const BOOKING = `<main><form aria-label=Booking><h1>Book</h1><input name=children><input name=attributes><select name=style></select>
  <input name=matches><input name=closest><input name=querySelectorAll></form><img name=querySelector><img name=body></main>`;

const LIST = "<h1>List</h1><ul><li id=one>One</li><li id=two>Two</li></ul>";

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
before(async () => {
  const forged = Object.entries(FORGED).map(([path, report]) => [path, forge(report)]);
  const pages = { "/long": forge(LONG), "/booking": BOOKING, "/list": LIST };
  site = await startSite({ ...Object.fromEntries(forged), ...pages });
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close()]);
});

const EMPTY: VariantDocument = { pages: [] };

async function ground(path: string, selector = "h1", op: "setText" | "addClass" = "setText") {
  const url = site.url + path;
  await browser.live.page().goto(url);
  const edit = op === "setText" ? { op, selector, text: "Reserve" } : { op, selector, className: "wide" };
  const document: VariantDocument = {
    pages: [{ url, match: "path", css: "", js: "", changes: [{ id: "c1", ...edit }] }],
  };
  return groundChanges(browser.live, { variant: "main", document, before: EMPTY, previous: "" });
}

for (const path of Object.keys(FORGED))
  test(`a forged report of the runtime counts as none: ${path}`, async () => {
    const grounding = await ground(path);
    assert.deepEqual(grounding, {
      ok: false,
      problem: "The page did not run the variant; reload it and try again.",
    });
  });

test("the texts of a forged report are cut", async () => {
  const grounding = await ground("/long");
  assert.ok(!grounding.ok);
  assert.match(grounding.problem, /x{1999}…/);
  assert.ok(grounding.problem.length < 3_000);
});

test("a form whose fields hide its members gets a change", async () => {
  const grounding = await ground("/booking", "main >> form", "addClass");
  assert.ok(grounding.ok, JSON.stringify(grounding));
  assert.deepEqual(grounding.matches, { c1: 1 });
  assert.match(grounding.lines.join(), /form "Booking"/);
  const { ok } = await ground("/booking", "form > h1");
  assert.ok(ok);
});

test("an insertion whose selector matches what it inserts is told, because the check fails it", async () => {
  const url = `${site.url}/list`;
  await browser.live.page().goto(url);
  const insert = (id: string, selector: string, position: "before" | "after") =>
    ({ id, op: "insert", selector, position, html: "<li>New</li>" }) as const;
  const changes = [
    insert("last", "li:last-child", "after"),
    insert("first", "li:first-child", "before"),
    insert("all", "li", "after"),
    insert("own", "#one", "after"),
  ];
  const ownMatchOf = async (change: (typeof changes)[number]) => {
    const document: VariantDocument = { pages: [{ url, match: "path", css: "", js: "", changes: [change] }] };
    const trial = { variant: "main", document, before: EMPTY, previous: "" };
    const grounding = await groundChanges(browser.live, trial);
    assert.ok(grounding.ok, JSON.stringify(grounding));
    return /Its selector (now|also) matches what it inserts/.exec(grounding.lines.join("\n"))?.[1];
  };
  const told: (string | undefined)[] = [];
  for (const change of changes) told.push(await ownMatchOf(change));
  assert.deepEqual(told, ["now", "now", "also", undefined]);
});
