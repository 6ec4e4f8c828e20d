import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { installOverlay } from "#lib/browser/overlay/install-overlay.ts";
import { copyForModel } from "#lib/evidence/model-copy.ts";
import { nastyPages, otherPages } from "../nasty-pages.ts";
import { domQuery } from "../read/dom-query.ts";
import { saveCleanedHtml } from "../read/save-cleaned-html.ts";
import { createSnapshotBook } from "../read/snapshot-book.ts";
import {
  callOf,
  createEvidenceMemory,
  failingGuard,
  NO_VARIANTS,
  startSite,
  startTestBrowser,
  type TestBrowser,
  textOf,
} from "../test-fixture.ts";
import { capturePreview } from "./capture-preview.ts";
import { screenshot } from "./screenshot.ts";

const button = (name: string, colour: string, top: number) =>
  `<button style="position:absolute;top:${top}px;left:300px;width:200px;height:60px;border:0;background:${colour};color:${colour}">${name}</button>`;
/** A page that the model gets in three parts. */
const MARKED = `<title>Marked</title><body style="margin:0;height:4000px">${button("First", "#f00", 500)}${button("Last", "#00f", 3500)}`;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let other: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  other = await startSite(otherPages);
  site = await startSite({ ...nastyPages(`http://localhost:${other.port}`), "/marked": MARKED });
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close(), other?.close()]);
});

/** Reads the width and height from the frame header of a JPEG. */
function readSize(jpeg: Uint8Array): [width: number, height: number] {
  const view = new DataView(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  for (let at = 2; at < jpeg.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker >= 0xffc0 && marker <= 0xffc2) return [view.getUint16(at + 7), view.getUint16(at + 5)];
  }
  throw new Error("no JPEG");
}

async function take(make: typeof screenshot, input: object, path: string) {
  await browser.live.page().goto(site.url + path);
  const evidence = createEvidenceMemory();
  const result = await make({ browser: browser.service, evidence, variants: NO_VARIANTS }).execute(
    input,
    callOf(),
  );
  const images = result.content.filter((part) => part.type === "image");
  const [image] = images;
  const [saved] = evidence.saved;
  assert.ok(saved && image);
  const sizes = { stored: readSize(saved.bytes), shown: readSize(image.data) };
  return { text: textOf(result), saved, image, images, ...sizes };
}

test("a screenshot is stored as evidence, and the answer shows id, address, time and size", async () => {
  const { text, saved, stored, shown, image } = await take(screenshot, {}, "/");
  assert.deepEqual(
    [saved.kind, saved.url, saved.mediaType, saved.runId],
    ["screenshot", `${site.url}/`, "image/jpeg", "run_test"],
  );
  assert.deepEqual(
    [stored, shown],
    [
      [1280, 720],
      [1280, 720],
    ],
  );
  assert.equal(image.evidence.id, saved.id);
  assert.match(text, /Evidence evidence_1: [\s\S]*url: http[\s\S]*time: \d{4}-[\s\S]*size: 1280×720 px/);
});

test("marks share the refs of a snapshot, and have the pixel positions of the picture", async () => {
  const { text } = await take(screenshot, { marks: true }, "/");
  const page = browser.live.page();
  const box = await page.locator("[name=email]").boundingBox();
  const marked =
    /textbox "Email"[^\n]* at (-?\d+),(-?\d+) (\d+)×(\d+)/.exec(text)?.slice(1).map(Number) ?? [];
  assert.ok(box, text);
  assert.deepEqual(marked, [box.x, box.y, box.width, box.height].map(Math.round), text);
  assert.match(text, /textbox "Card number" \[f2e1\] at 434,315 179×21/);
  assert.equal(text.match(/button "Add"/g)?.length, 2);
  const snapshot = await domQuery({ browser: browser.service, snapshots: createSnapshotBook() }).execute(
    {},
    callOf(),
  );
  for (const ref of text.match(/\[(?:f\d+)?e\d+\]/g) ?? assert.fail(text))
    assert.ok(textOf(snapshot).includes(ref), ref);
  assert.equal(await page.locator("[data-agent-session-marks]").count(), 0);
});

test("one element is taken by its selector, and a missing one is named", async () => {
  const { stored } = await take(screenshot, { selector: "#pay" }, "/");
  assert.ok(Math.abs(stored[0] - 304) <= 1 && Math.abs(stored[1] - 124) <= 1, String(stored));
  await assert.rejects(take(screenshot, { selector: "#none" }, "/"), /No element matches #none/);
});

test("a full page is stored up to Chromium's limit, and shown to the model in readable parts", async () => {
  const { text, stored, images, saved } = await take(screenshot, { fullPage: true }, "/tall");
  assert.deepEqual(stored, [1280, 16_000]);
  assert.match(text, /20000 px high/);
  assert.match(
    text,
    /Shown here: parts 1 to 3 of 11, px 0 to 4365 of 16000 in height\. The others: view_image with evidenceId evidence_1 /,
  );
  assert.deepEqual(
    images.map((image) => [image.part, readSize(image.data)]),
    [0, 1455, 2910].map((top) => [{ top, height: 1455 }, [1280, 1455]]),
  );
  // What the model gets later is the same.
  const copy = await copyForModel({ bytes: saved.bytes, mediaType: saved.mediaType }, images[1]?.part);
  assert.deepEqual(copy?.bytes, images[1]?.data);
});

test("marks in the parts of a long page are where the model sees them", async () => {
  const { text, images } = await take(screenshot, { fullPage: true, marks: true }, "/marked");
  for (const [name, colour] of [
    ["First", [255, 0, 0]],
    ["Last", [0, 0, 255]],
  ] as const) {
    const found = new RegExp(`button "${name}"[^\\n]* at (\\d+),(\\d+) (\\d+)×(\\d+) in part (\\d)`).exec(
      text,
    );
    const [x = 0, y = 0, width = 0, height = 0, part = 0] = (found ?? []).slice(1).map(Number);
    const image = images[part - 1];
    assert.ok(image, text);
    const center = { left: x + Math.round(width / 2), top: y + Math.round(height / 2), width: 1, height: 1 };
    const pixel = await sharp(image.data).extract(center).raw().toBuffer();
    assert.ok(
      [...pixel].every((value, index) => Math.abs(value - (colour[index] ?? 0)) < 40),
      `${name}: ${[...pixel]} ${text}`,
    );
  }
});

test("the overlay is not in the picture, and is back afterwards", async () => {
  const page = browser.live.page();
  const cdp = await browser.live.cdp();
  await cdp.send("Page.enable");
  const gate = browser.overlayGate;
  const onAnnotation = async () => ({ isStored: true }) as const;
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const mainFrameId = () => frameTree.frame.id;
  const { openDevtools } = browser.live;
  const guard = failingGuard;
  const overlay = await installOverlay(cdp, { guard, mainFrameId, gate, openDevtools, onAnnotation });
  gate.add(overlay);
  const { saved } = await take(screenshot, {}, "/plain");
  await page.locator("[data-agent-session-overlay]").waitFor({ state: "attached" });
  const withOverlay = await page.screenshot();
  await page
    .locator("[data-agent-session-overlay]")
    .evaluate((host: HTMLElement) => host.style.setProperty("display", "none", "important"));
  assert.notDeepEqual(await page.screenshot(), withOverlay);
  const evidence = createEvidenceMemory();
  await screenshot({ browser: browser.service, evidence, variants: NO_VARIANTS }).execute({}, callOf());
  assert.deepEqual(evidence.saved[0]?.bytes, saved.bytes);
});

test("a preview is taken at another width, and the viewport is restored", async () => {
  const { stored, saved, text } = await take(capturePreview, { device: "mobile" }, "/");
  assert.deepEqual([stored, saved.kind], [[390, 844], "preview"]);
  assert.match(text, /Preview at 390×844/);
  assert.deepEqual(await browser.live.page().evaluate(() => [innerWidth, innerHeight]), [1280, 720]);
  assert.deepEqual((await take(capturePreview, { width: 2000, height: 1000 }, "/")).shown, [1568, 784]);
});

test("cleaned HTML contains structure and text of all frames, and no scripts", async () => {
  await browser.live.page().goto(site.url);
  const evidence = createEvidenceMemory();
  const result = await saveCleanedHtml({ browser: browser.service, evidence }).execute({}, callOf());
  const text = textOf(result);
  assert.deepEqual(
    result.content.flatMap((part) => (part.type === "evidence" ? [part.evidence.kind] : [])),
    ["html"],
  );
  const [saved] = evidence.saved;
  const html = new TextDecoder().decode(saved?.bytes);
  assert.deepEqual([saved?.kind, saved?.mediaType, saved?.url], ["html", "text/html", `${site.url}/`]);
  for (const part of [
    "Checkout",
    "<b>nothing</b>",
    'shadowrootmode="open"',
    "Shadow words",
    "Card number",
    "Inner words",
  ]) {
    assert.ok(html.includes(part), part);
  }
  for (const part of [
    "<script",
    "<style",
    "onclick",
    "javascript:",
    "hunter2",
    "Overlay",
    "base64",
    "style=",
  ]) {
    assert.ok(!html.includes(part), part);
  }
  assert.match(
    text,
    /Evidence evidence_1[\s\S]*size: \d+ bytes, 4 frames[\s\S]*It gives no instructions[\s\S]*h1 Checkout/,
  );
});
