import assert from "node:assert/strict";
import { test } from "node:test";
import { openRuntimeBrowser, scriptOf, waitForState } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const BODY = `<main><form id=booking class=plain>
  <p id=title>Book</p><p id=gone>Gone</p><p id=moved>Moved</p>
  <label>Children <input id=count name=children value=2></label><button>Go</button>
</form></main>`;

/** Hides every member of the form by a field with its name, and of the document by an image with its name. */
const HIDE_MEMBERS = `<script>{
  const { append } = Element.prototype;
  const { createElement, body, forms } = document;
  const [form] = forms;
  const make = (tag, name) => Object.assign(createElement.call(document, tag), { name, hidden: true });
  const namesOf = (node) => { const names = []; for (const name in node) names.push(name); return names; };
  const fields = namesOf(form).map((name) => make("output", name));
  const images = namesOf(document).map((name) => make("img", name));
  const global = Object.assign(createElement.call(document, "img"), { id: "__agentSessionVariants" });
  append.call(form, ...fields);
  append.call(body, ...images, global);
}</script>`;

const REPLACE = `const replace = (object, names) => {
    for (let index = 0; index < names.length; index++) object[names[index]] = () => { throw new Error("replaced " + names[index]); };
  };`;

/** Replaces methods of arrays and strings, as old libraries do, and adds enumerable members to all objects. */
const REPLACE_METHODS = `<script>{
  ${REPLACE}
  Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = () => "replaced";
  Array.prototype.extra = Object.prototype.extra = () => "enumerable";
  JSON.stringify = Array.from = () => "replaced";
  replace(Array.prototype, ["map", "filter", "find", "some", "every", "includes", "indexOf", "flatMap", "reduce", "at", "push",
    "slice", "splice", "join", "forEach", "reverse", "shift", "lastIndexOf"]);
  replace(String.prototype, ["trim", "replace", "split"]);
}</script>`;

/** Also replaces functions that a script can only keep if it starts before. */
const REPLACE_ALL = `${REPLACE_METHODS}<script>{
  ${REPLACE}
  replace(Array.prototype, ["sort"]);
  replace(String.prototype, ["match"]);
  replace(Object, ["keys", "entries", "assign", "hasOwn", "create", "defineProperty", "getOwnPropertyDescriptor"]);
  replace(window, ["Map", "Set", "WeakMap", "WeakSet", "setTimeout", "requestAnimationFrame", "queueMicrotask"]);
  replace(Element.prototype, ["matches", "closest", "getAttribute", "setAttribute", "querySelectorAll", "append", "remove"]);
  replace(Node.prototype, ["insertBefore", "removeChild", "contains", "getRootNode"]);
  replace(DocumentFragment.prototype, ["append", "replaceChildren", "querySelector"]);
  replace(performance, ["now"]);
}</script>`;

const CHANGES = [
  { op: "setText", selector: "#title", text: "Book now" },
  { op: "setAttribute", selector: "#booking", name: "data-kind", value: "new" },
  { op: "addClass", selector: "#booking", className: "wide" },
  { op: "setStyle", selector: "#booking", style: { "padding-top": "7px" } },
  { op: "insert", selector: "#booking", position: "start", html: '<p class="first">Hello</p>' },
  { op: "insert", selector: "#booking", position: "after", html: "<p>Below</p>" },
  { op: "remove", selector: "#gone" },
  { op: "move", selector: "#moved", target: "main >> #booking", position: "before" },
] as const;

/** Reads what the changes altered, with members that the page cannot have replaced. */
const READ = `(() => {
  const at = (selector) => Reflect.apply(Document.prototype.querySelector, document, [selector]);
  const text = (selector) => { const node = at(selector); return node && node.textContent; };
  const style = getComputedStyle(at("form"));
  return text("#title") + "," + text("form.wide[data-kind=new] > .first:first-child") + "," + style.paddingTop + "," +
    text("form + p") + "," + text("main > #moved") + "," + getComputedStyle(at("#gone")).display;
})()`;
const APPLIED = "Book now,Hello,7px,Below,Moved,none";
const REVERTED = "Book,null,0px,null,null,block";

const PAGES = {
  "fields and images named like members": HIDE_MEMBERS,
  "replaced methods of arrays and strings": REPLACE_METHODS,
  "replaced built-ins": REPLACE_ALL,
};
for (const [name, extra] of Object.entries(PAGES))
  for (const when of extra === REPLACE_ALL ? ["before"] : ["before", "after"])
    test(`a variant that starts ${when} the page's scripts applies and reverts on a page with ${name}`, async () => {
      const url = browser.serve(`/${encodeURIComponent(name)}`, BODY + extra);
      const script = scriptOf(url, [...CHANGES]);
      const { page, problems, close } = await browser.open(url, when === "before" ? [script] : []);
      const cdp = await page.context().newCDPSession(page);
      const evaluate = async (expression: string) =>
        (await cdp.send("Runtime.evaluate", { expression, returnByValue: true })).result.value as unknown;
      if (when === "after") await evaluate(script);
      const report = (await evaluate("window.__agentSessionVariants.main.report()")) as {
        changes: { id: string; state: string; error: unknown }[];
      };
      assert.deepEqual(
        report.changes.map(({ state, error }) => [state, error]),
        CHANGES.map(() => ["applied", null]),
      );
      assert.equal(await evaluate(READ), APPLIED);
      await evaluate("window.__agentSessionVariants.main.revert()");
      assert.equal(await evaluate(READ), REVERTED);
      assert.deepEqual(problems, []);
      await close();
    });

test("an element that a frame has created gets the changes when the page inserts it", async () => {
  const url = browser.serve("/frame", "<main></main><iframe></iframe>");
  const script = scriptOf(url, [{ op: "setText", selector: "#late", text: "Changed" }]);
  const { page, problems, close } = await browser.open(url, [script]);
  await waitForState(page, "waiting");
  await page.evaluate(() => {
    const created = document.querySelector("iframe")?.contentDocument?.createElement("p") as HTMLElement;
    const isOfPage: boolean = created instanceof Element;
    if (isOfPage) throw new Error("the element is of this realm");
    created.id = "late";
    document.querySelector("main")?.append(created);
  });
  await waitForState(page, "applied");
  assert.equal(await page.textContent("#late"), "Changed");
  assert.deepEqual(problems, []);
  await close();
});
