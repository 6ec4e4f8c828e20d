import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { capturePreview } from "../picture/capture-preview.ts";
import { takePicture } from "../picture/take-picture.ts";
import {
  callOf,
  createEvidenceMemory,
  NO_VARIANTS,
  startSite,
  startTestBrowser,
  type TestBrowser,
  textOf,
} from "../test-fixture.ts";
import { browserSearch } from "./browser-search.ts";
import { domQuery } from "./dom-query.ts";
import { inspectFrames } from "./inspect-frames.ts";
import { saveCleanedHtml } from "./save-cleaned-html.ts";
import { createSnapshotBook } from "./snapshot-book.ts";

const BODY = `<title>Booking</title><h1>Book a room</h1>
  <form id=booking aria-label=Booking style="padding: 4px">
    <fieldset><legend>Guests</legend>
      <label>Children <input name=children value=2></label>
      <label>Style <select name=style><option>Quiet</select></label>
    </fieldset>
    <button>Book</button>
  </form>`;

/**
 * Hides every member of the form by a field with its name, and every member of the document by an image with its name.
 * The inserted elements have no box and no text, so the page reads as before.
 */
const HIDE_MEMBERS = `<script>
  const { append } = Element.prototype;
  const { createElement, body, forms } = document;
  const make = (tag, attributes) => Object.assign(createElement.call(document, tag), { hidden: true, ...attributes });
  const namesOf = (node) => { const names = []; for (const name in node) names.push(name); return names; };
  const [form] = forms;
  const fields = namesOf(form).map((name) => make("output", { name }));
  const images = namesOf(document).map((name) => make("img", { name }));
  const globals = ["agentSessionElements", "agentSessionCounter"].map((id) => make("img", { id }));
  append.call(form, ...fields);
  append.call(body, ...images, ...globals);
  if (form.children instanceof HTMLCollection || document.body === body) throw new Error("nothing is hidden");
</script>`;

/** Replaces the form by one that was created in a frame, so its classes are not those of the page. */
const FROM_FRAME = `<script>
  const [form] = document.forms;
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.contentDocument.body.innerHTML = form.outerHTML;
  form.replaceWith(frame.contentDocument.body.firstChild);
  frame.remove();
  if (document.forms[0] instanceof Element) throw new Error("the form is of this realm");
</script>`;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  site = await startSite({ "/plain": BODY, "/hidden": BODY + HIDE_MEMBERS, "/frame": BODY + FROM_FRAME });
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close()]);
});

const evidence = createEvidenceMemory();
const snapshots = createSnapshotBook();
const tools = () => ({ browser: browser.service, snapshots, evidence, variants: NO_VARIANTS });

/** Reads a page with each tool that reads pages. What differs from read to read is removed: address, refs and counts. */
async function readWithAll(path: string): Promise<Record<string, string>> {
  const { live } = browser;
  await live.page().goto(site.url + path);
  const tidy = (text: string) =>
    text
      .replaceAll(site.url + path, "(address)")
      .replace(/<\/?data-\w+>|Snapshot \w+|"elements": \d+|\be\d+\b/g, "");
  const query = async (input: object) => tidy(textOf(await domQuery(tools()).execute(input, callOf())));
  const picture = await takePicture(live, { fullPage: true, hasMarks: true });
  return {
    snapshot: await query({}),
    byRole: await query({ role: "form" }),
    byText: await query({ text: "Children" }),
    bySelector: await query({ selector: "body >> form >> label", attributes: ["for"] }),
    search: tidy(textOf(await browserSearch(tools()).execute({ query: "room" }, callOf()))),
    frames: tidy(textOf(await inspectFrames(tools()).execute({}, callOf()))),
    marks: tidy(JSON.stringify(picture.marks)),
    preview: textOf(await capturePreview(tools()).execute({ device: "mobile" }, callOf())).slice(0, 7),
    html: tidy(await readHtml()),
  };
}

/** Saves the cleaned HTML, and returns it without the fields and images that hide members. */
async function readHtml(): Promise<string> {
  await saveCleanedHtml(tools()).execute({}, callOf());
  const html = new TextDecoder().decode(evidence.saved.at(-1)?.bytes);
  return html.replace(/\s*<(output|img)[^>]*>(<\/output>)?/g, "");
}

test("fields and images that hide members of forms and of the document, and nodes of a frame, are read as others", async () => {
  const plain = await readWithAll("/plain");
  assert.match(String(plain.snapshot), /form "Booking"[\s\S]*textbox "Children"[\s\S]*combobox "Style"/);
  assert.deepEqual(await readWithAll("/hidden"), plain);
  assert.deepEqual(await readWithAll("/frame"), plain);
});
