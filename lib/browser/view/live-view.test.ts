import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserInput, ScreencastFrame } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let sessionId: string;

before(async () => {
  site = await startTestSite((request, response) => {
    const moving =
      request.url === "/moving"
        ? "<style>b{animation:r 1s infinite linear}@keyframes r{to{margin-left:400px}}</style>"
        : "";
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`${moving}<b>box</b><br><input id=field style="position:absolute;left:100px;top:100px;width:200px;height:30px">
      <div style="height:3000px"></div>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
  sessionId = await insertTestSession(harness.db);
});
after(async () => {
  await harness.close();
  await site.close();
});

const isJpeg = (frame: ScreencastFrame) => frame.jpeg[0] === 0xff && frame.jpeg[1] === 0xd8;

test("frames of the page arrive, also when the browser starts after the viewer", async () => {
  const frames: ScreencastFrame[] = [];
  const stop = harness.browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
  await harness.browsers.ensure(sessionId);
  const frame = await waitFor(() => frames.at(-1), "a frame");
  assert.ok(isJpeg(frame));
  assert.deepEqual([frame.width, frame.height], [1280, 800]);
  assert.equal((await harness.browsers.readStatus(sessionId)).status, "ready");
  stop();
});

test("two watchers share one screencast", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/moving`);
  const [one, two]: ScreencastFrame[][] = [[], []];
  const stops = [one, two].map((frames) =>
    harness.browsers.watch(sessionId, { onFrame: (frame) => frames?.push(frame) }),
  );
  await waitFor(() => (two?.length ?? 0) > 5, "frames of a moving page");
  const shared = two?.slice(-3) ?? [];
  assert.ok(shared.every((frame) => one?.includes(frame)));
  for (const stop of stops) stop();
});

test("a viewer that joins on a still page gets the last frame immediately", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/still`);
  const first: ScreencastFrame[] = [];
  const stopFirst = harness.browsers.watch(sessionId, { onFrame: (frame) => first.push(frame) });
  await waitFor(() => first.length > 0, "the first frame");
  await waitFor(async () => {
    const count = first.length;
    await new Promise((resolve) => setTimeout(resolve, 250));
    return first.length === count;
  }, "the page to be still");
  const seenByFirst = first.length;
  const second: ScreencastFrame[] = [];
  const stopSecond = harness.browsers.watch(sessionId, { onFrame: (frame) => second.push(frame) });
  const shown = await waitFor(() => second[0], "the cached frame");
  assert.ok(first.indexOf(shown) >= seenByFirst - 1);
  stopFirst();
  stopSecond();
});

test("the cast continues when the page moves to another origin", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/moving`);
  const frames: ScreencastFrame[] = [];
  const stop = harness.browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
  await waitFor(() => frames.length > 0, "a frame");
  await harness.browsers.navigate(sessionId, `http://localhost:${site.port}/moving`);
  const before = frames.length;
  await waitFor(() => frames.length > before + 3, "frames of the other origin");
  stop();
});

test("a cast that begins while the page changes its origin delivers frames, too", async () => {
  for (const host of ["127.0.0.1", "localhost", "127.0.0.1", "localhost"]) {
    const frames: ScreencastFrame[] = [];
    await harness.browsers.retarget(sessionId, `http://${host}:${site.port}/moving`);
    const stop = harness.browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
    await waitFor(() => frames.length > 5, "frames of the new page");
    stop();
  }
});

test("clicks and typed text reach the page; scrolling shows in the frames", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/form`);
  const live = await harness.browsers.ensure(sessionId);
  const frames: ScreencastFrame[] = [];
  const stop = harness.browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
  const at = { x: 150, y: 115, modifiers: 0 };
  const inputs: BrowserInput[] = [
    { type: "mouse", action: "move", ...at, button: "none", clickCount: 0 },
    { type: "mouse", action: "down", ...at, button: "left", clickCount: 1 },
    { type: "mouse", action: "up", ...at, button: "left", clickCount: 1 },
    { type: "key", action: "down", key: "a", code: "KeyA", modifiers: 0 },
    { type: "key", action: "up", key: "a", code: "KeyA", modifiers: 0 },
    { type: "text", text: "é漢" },
    { type: "paste", text: " pasted" },
    { type: "key", action: "down", key: "Backspace", code: "Backspace", modifiers: 0 },
    { type: "key", action: "up", key: "Backspace", code: "Backspace", modifiers: 0 },
  ];
  for (const input of inputs) await harness.browsers.input(sessionId, input);
  assert.equal(await live.page().inputValue("#field"), "aé漢 paste");
  await harness.browsers.input(sessionId, {
    type: "wheel",
    x: 600,
    y: 600,
    deltaX: 0,
    deltaY: 300,
    modifiers: 0,
  });
  await waitFor(() => frames.some((frame) => frame.scrollY === 300), "a frame of the scrolled page");
  stop();
});

test("a watcher stays through the end of a browser and sees the next one", async () => {
  const frames: ScreencastFrame[] = [];
  const stop = harness.browsers.watch(sessionId, { onFrame: (frame) => frames.push(frame) });
  await waitFor(() => frames.length > 0, "a frame");
  const live = await harness.browsers.ensure(sessionId);
  const session = await live.browser.newBrowserCDPSession();
  await session.send("Browser.close").catch(() => {});
  await waitFor(async () => (await harness.browsers.readStatus(sessionId)).status === "expired", "its end");
  const before = frames.length;
  await harness.browsers.ensure(sessionId);
  await waitFor(() => frames.length > before, "a frame of the new browser");
  assert.ok((frames.at(-1)?.sequence ?? 0) > (frames[before - 1]?.sequence ?? 0));
  stop();
});
