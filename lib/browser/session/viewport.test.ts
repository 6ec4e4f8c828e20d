import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ScreencastFrame } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;

before(async () => {
  site = await startTestSite((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<title>page</title><div style='height: 3000px'>page</div>");
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
});
after(async () => {
  await harness.close();
  await site.close();
});

/** Opens a session's page and watches it. */
async function watchPage() {
  const sessionId = await insertTestSession(harness.db);
  const { browsers } = harness;
  await browsers.navigate(sessionId, `${site.origin}/`);
  const live = await browsers.ensure(sessionId);
  const frames: ScreencastFrame[] = [];
  const stop = browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
  const read = () =>
    live.page().evaluate<[number, number, number]>("[innerWidth, innerHeight, devicePixelRatio]");
  return { sessionId, browsers, live, frames, stop, read };
}

/** Reads the size of a JPEG from its frame header. */
function sizeOf(jpeg: Uint8Array): [number, number] {
  const bytes = Buffer.from(jpeg);
  for (let at = 2; ; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xc2) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
  }
}

test("the page gets the chosen size, pictures the chosen sharpness, and both stay when the page navigates", async () => {
  const { sessionId, browsers, live, frames, stop, read } = await watchPage();
  assert.deepEqual(await read(), [1280, 800, 1]);
  await browsers.setViewport(sessionId, { size: { width: 390, height: 844 }, scale: 2 });
  assert.deepEqual(await read(), [390, 844, 1]);
  const isSharp = () => {
    const frame = frames.at(-1);
    return frame?.width === 390 && frame.height === 844 && sizeOf(frame.jpeg).join() === "780,1688";
  };
  await waitFor(isSharp, "a sharp picture");
  await browsers.navigate(sessionId, `http://localhost:${site.port}/`);
  assert.deepEqual(await read(), [390, 844, 1]);
  await waitFor(isSharp, "a sharp picture of the next page");
  await live
    .page()
    .evaluate("addEventListener('click', (event) => { window.at = [event.clientX, event.clientY]; })");
  const at = { x: 100, y: 200, button: "left", clickCount: 1, modifiers: 0 } as const;
  await browsers.input(sessionId, { type: "mouse", action: "down", ...at });
  await browsers.input(sessionId, { type: "mouse", action: "up", ...at });
  assert.deepEqual(await live.page().evaluate("window.at"), [100, 200]);
  await browsers.input(sessionId, { type: "wheel", x: 100, y: 200, deltaX: 0, deltaY: 120, modifiers: 0 });
  await waitFor(async () => (await live.page().evaluate("scrollY")) === 120, "the page to scroll by as much");
  await browsers.setViewport(sessionId, { size: null, scale: 1 });
  await waitFor(
    () => sizeOf(frames.at(-1)?.jpeg ?? new Uint8Array()).join() === "390,844",
    "a usual picture",
  );
  assert.deepEqual(await read(), [390, 844, 1]);
  stop();
});

test("a page that has its usual size again keeps it in its next documents", async () => {
  const { sessionId, browsers, live, stop, read } = await watchPage();
  for (let round = 0; round < 6; round += 1) {
    await browsers.setViewport(sessionId, { size: { width: 390, height: 844 }, scale: 1.5 });
    await browsers.setViewport(sessionId, { size: { width: 1280, height: 800 }, scale: 1 });
    await browsers.navigate(sessionId, `${round % 2 ? site.origin : `http://localhost:${site.port}`}/`);
    assert.deepEqual(await read(), [1280, 800, 1]);
    await live
      .page()
      .evaluate("addEventListener('mousedown', (event) => { window.at = [event.clientX, event.clientY]; })");
    const at = { x: 600, y: 300, button: "left", clickCount: 1, modifiers: 0 } as const;
    await browsers.input(sessionId, { type: "mouse", action: "down", ...at });
    await browsers.input(sessionId, { type: "mouse", action: "up", ...at });
    assert.deepEqual(await live.page().evaluate("window.at"), [600, 300]);
  }
  stop();
});

test("pictures have a limited number of pixels, unless the page itself is larger", async () => {
  const { sessionId, browsers, frames, stop } = await watchPage();
  const untilPicture = async (width: number, pixels: string) =>
    waitFor(() => {
      const frame = frames.at(-1);
      return frame?.width === width && sizeOf(frame.jpeg).join() === pixels;
    }, `a picture of ${pixels} pixels`);
  await browsers.setViewport(sessionId, { size: null, scale: 3 });
  await untilPicture(1280, "1810,1131");
  await browsers.setViewport(sessionId, { size: { width: 2560, height: 1600 }, scale: 2 });
  await untilPicture(2560, "2560,1600");
  stop();
});

test("a page that opens later gets the size, too; a new browser does not", async () => {
  const { sessionId, browsers, live, stop } = await watchPage();
  await browsers.setViewport(sessionId, { size: { width: 820, height: 1180 }, scale: 1 });
  const first = live.page();
  await first.evaluate(`window.open("${site.origin}/popup")`);
  await waitFor(() => live.page() !== first, "the popup");
  await waitFor(async () => (await live.page().evaluate("innerWidth")) === 820, "the size of the popup");
  stop();
});

test("the model is told once that people have changed the size", async () => {
  const { sessionId, browsers, stop } = await watchPage();
  assert.equal(browsers.takeViewportNote(sessionId), undefined);
  await browsers.setViewport(sessionId, { size: null, scale: 2 });
  assert.equal(browsers.takeViewportNote(sessionId), undefined);
  await browsers.setViewport(sessionId, { size: { width: 390, height: 844 }, scale: 1 });
  assert.equal(
    browsers.takeViewportNote(sessionId),
    "The viewport of the page is 390 × 844 CSS pixels now, before it was 1280 × 800. People can change it in the live view.",
  );
  assert.equal(browsers.takeViewportNote(sessionId), undefined);
  stop();
});
