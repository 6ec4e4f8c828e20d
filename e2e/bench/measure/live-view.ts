import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeFrame } from "#lib/client/frame-header.ts";
import { readPictureSize } from "#lib/evidence/model-copy.ts";
import { readSetup } from "#lib/setup/read-setup.ts";
import { waitUntil } from "../../fixtures/service.ts";
import { callJson } from "../http.ts";
import { startTurn } from "../play-turn.ts";
import type { Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";
import { openRawView } from "../view/raw-view.ts";
import { openServiceView } from "../view/service-view.ts";
import type { View } from "../view/view.ts";

const WATCH_MS = 2_000;
const CLICKS = 25;
const MOVES = 25;
/** How many of the first clicks and moves are not counted, because code is cold. */
const COLD = 3;
/** Pixels for a CSS pixel of a sharp screen. */
const SHARP = 2;

const PAGES: Record<string, string> = {
  "/moving": `<body style="margin:0"><div style="position:absolute;width:200px;height:200px;background:teal"></div>
    <script>const box = document.querySelector("div"); let x = 0;
    const move = () => { box.style.transform = "translate(" + (x = (x + 7) % 900) + "px,100px)"; requestAnimationFrame(move); };
    move();</script>`,
  "/still": `<body style="margin:0;height:100vh;background:white"><script>let on = false;
    addEventListener("mousedown", () => { document.body.style.background = (on = !on) ? "teal" : "white"; });
    addEventListener("mousemove", ({ buttons }) => { if (buttons === 1) document.body.style.background = (on = !on) ? "teal" : "white"; });</script>`,
};

/**
 * Compares the live view with a screencast that is read directly from a browser. Both browsers have the same build and
 * the same flags.
 */
async function measureLiveView({ subject, folder }: Rig): Promise<Row[]> {
  const pages = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(PAGES[request.url ?? ""] ?? "");
  });
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  const pageUrl = (path: string) => `http://127.0.0.1:${(pages.address() as AddressInfo).port}${path}`;
  const closing: (() => unknown)[] = [() => pages.close(), () => pages.closeAllConnections()];
  try {
    const raw = await openRawView(folder, findChromium());
    closing.unshift(raw.close);
    const { sessionId } = await startTurn(subject, { tools: 0 });
    const join = async () => {
      const view = await openServiceView(subject, sessionId);
      closing.unshift(view.close);
      return view;
    };
    await raw.open(pageUrl("/still"));
    await retarget(subject, sessionId, pageUrl("/moving"));
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, join));
    if (!first) throw new Error("no viewer");

    const rates: { one: number; five: number }[] = [];
    for (let round = 0; round < 2; round++) {
      const [one = 0] = await watch([first]);
      // With five viewers, the rate of the slowest one counts.
      rates.push({ one, five: Math.min(...(await watch([first, ...others]))) });
    }
    await retarget(subject, sessionId, pageUrl("/still"));
    await raw.open(pageUrl("/moving"));
    const [rawRate = 0] = await watch([raw]);
    await raw.open(pageUrl("/still"));

    first.subscribe(true);
    raw.subscribe(true);
    await first.takeControl();
    await sleep(500);
    const clicks = await takeTurns(
      CLICKS,
      () => timeClick(first),
      () => timeClick(raw),
    );
    first.press();
    raw.press();
    await sleep(200);
    const moves = await takeTurns(
      MOVES,
      (turn) => timeMove(first, turn),
      (turn) => timeMove(raw, turn),
    );
    first.release();
    raw.release();
    await sleep(1_000);
    const before = first.frames();
    await sleep(WATCH_MS);
    const stillFrames = first.frames() - before;
    first.setScale(SHARP);
    await first.nextFrame();
    await sleep(500);
    const sharpness = await readSharpness(first.lastFrame());
    const one = median(rates.map((rate) => rate.one));
    return [
      {
        what: "live view: frames with 5 viewers vs 1",
        unit: "×",
        target: { atLeast: 0.95 },
        value: median(rates.map((rate) => rate.five / rate.one)),
        behind: { onePerSecond: one, fivePerSecond: median(rates.map((rate) => rate.five)) },
      },
      {
        what: "live view: frames vs raw CDP",
        value: one / rawRate,
        unit: "×",
        behind: { servicePerSecond: one, rawPerSecond: rawRate },
      },
      {
        what: "live view: input to frame vs raw CDP",
        value: clicks.serviceMs / clicks.rawMs,
        unit: "×",
        target: { atMost: 1.2 },
        behind: clicks,
      },
      {
        what: "live view: move of a drag to frame vs raw CDP",
        value: moves.serviceMs / moves.rawMs,
        unit: "×",
        target: { atMost: 1.2 },
        behind: moves,
      },
      {
        what: `live view: frames of a still page in ${WATCH_MS / 1_000} s`,
        value: stillFrames,
        unit: "frames",
        target: { atMost: 0 },
        behind: {},
      },
      {
        what: `live view: pixels for a CSS pixel on a screen with ${SHARP}`,
        value: sharpness.scale,
        unit: "×",
        behind: sharpness,
      },
    ];
  } finally {
    for (const close of closing) await close();
  }
}

/** Returns the path of the Chromium that the service uses. */
export const findChromium = () =>
  process.env.BROWSER_EXECUTABLE_PATH ?? readSetup(process.env.DATA_DIR ?? ".data").chromium?.executablePath;

/** Subscribes all views, and measures how many frames per second each of them receives. */
async function watch(views: View[]): Promise<number[]> {
  for (const view of views) view.subscribe(true);
  await Promise.all(views.map((view) => view.nextFrame()));
  await sleep(300);
  const startedAt = performance.now();
  const before = views.map((view) => view.frames());
  await sleep(WATCH_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  const rates = views.map((view, index) => (view.frames() - (before[index] ?? 0)) / seconds);
  for (const view of views) view.subscribe(false);
  return rates;
}

/**
 * Measures the milliseconds from a press of the mouse button to the next frame. Only the press changes the page, so the
 * next frame shows its effect.
 */
async function timeClick(view: View): Promise<number> {
  const startedAt = performance.now();
  const frame = view.nextFrame();
  view.press();
  const shownAt = await frame;
  view.release();
  await sleep(80);
  return shownAt - startedAt;
}

/** Measures the milliseconds from a move with the pressed button to the next frame, which shows its effect. */
async function timeMove(view: View, turn: number): Promise<number> {
  const startedAt = performance.now();
  const frame = view.nextFrame();
  view.drag(310 + turn * 10);
  const shownAt = await frame;
  await sleep(80);
  return shownAt - startedAt;
}

/** Measures both sides alternately. @returns the medians in milliseconds. */
async function takeTurns(
  count: number,
  service: (turn: number) => Promise<number>,
  raw: (turn: number) => Promise<number>,
): Promise<{ serviceMs: number; rawMs: number }> {
  const measured: [number, number][] = [];
  for (let turn = 0; turn < count; turn++) measured.push([await service(turn), await raw(turn)]);
  const counted = measured.slice(COLD);
  return { serviceMs: median(counted.map(([ms]) => ms)), rawMs: median(counted.map(([, ms]) => ms)) };
}

/** Compares the pixels of a frame's picture with the size of the page. */
async function readSharpness(bytes: Uint8Array | undefined) {
  const frame = bytes && decodeFrame(bytes);
  const size = frame && (await readPictureSize(frame.jpeg));
  if (!frame || !size) throw new Error("the last frame is no picture");
  return { scale: size.width / frame.width, pictureWidth: size.width, pageWidth: frame.width };
}

async function retarget(subject: Subject, sessionId: string, url: string): Promise<void> {
  const path = `${subject.baseUrl}/api/sessions/${sessionId}/browser`;
  await callJson("POST", path, subject.headers, { url });
  await waitUntil(async () => {
    const status = (await callJson("GET", path, subject.headers)) as Record<string, unknown>;
    if (status.status === "error") throw new Error(String(status.lastError));
    return status.lastNavigatedUrl === url;
  }, `the browser shows ${url}`);
}

export const liveViewMeasurement: Measurement = { name: "live-view", seconds: 40, measure: measureLiveView };
