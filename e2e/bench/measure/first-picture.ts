import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright";
import { callJson } from "../http.ts";
import { textOf } from "../play-turn.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";
import { createFrameCounter } from "../view/frame-counter.ts";
import { openServiceView } from "../view/service-view.ts";
import { findChromium } from "./live-view.ts";

const ROUNDS = 5;
/** Time until a new spare browser is ready. The service starts it 2 s after a session has taken the previous one. */
const SPARE_MS = 4_000;
const SIZE = { width: 1280, height: 800 };
const PAGE = `<title>Shop</title><body style="background:teal"><h1>Shop</h1>${"<p>Offer of the day</p>".repeat(200)}`;

/**
 * Measures the time from `POST /api/session` until the live view shows the session's target page, relative to a page in
 * a bare browser context.
 */
async function measureFirstPicture({ subject }: Rig): Promise<Row[]> {
  let onVisit = () => {};
  const pages = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
    onVisit();
  });
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  /** Resolves when the browser requests the page. Pictures before this request do not count, because they are empty. */
  const expectVisit = () =>
    new Promise<void>((done) => {
      onVisit = done;
    });
  const executablePath = findChromium();
  const browser = await chromium.launch({ ...(executablePath && { executablePath }) });
  try {
    // The request for a page makes the service start its first spare browser.
    await fetch(`${subject.baseUrl}/`);
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(SPARE_MS);
      const service = await timeService(subject, url, expectVisit());
      pairs.push([service, await timeBare(browser, url, expectVisit())]);
    }
    return [
      {
        what: "POST with targetUrl until the first picture, relative to a bare context",
        unit: "×",
        value: medianRatio(pairs),
        target: { atMost: 1.2 },
        behind: {
          serviceMs: median(pairs.map(([service]) => service)),
          bareMs: median(pairs.map(([, bare]) => bare)),
        },
      },
    ];
  } finally {
    await browser.close();
    pages.close();
    pages.closeAllConnections();
  }
}

async function timeService(subject: Subject, targetUrl: string, visited: Promise<void>): Promise<number> {
  const { baseUrl, createPath, headers, bodyOf } = subject;
  const startedAt = performance.now();
  const body = { ...(bodyOf(textOf({ tools: 0 })) as object), targetUrl };
  const created = await callJson("POST", baseUrl + createPath, headers, body);
  const { sessionId } = created as { sessionId: string };
  const view = await openServiceView(subject, sessionId);
  try {
    view.subscribe(true);
    await visited;
    return (await view.nextFrame()) - startedAt;
  } finally {
    view.close();
    await callJson("DELETE", `${baseUrl}/api/sessions/${sessionId}`, headers);
  }
}

async function timeBare(
  browser: Awaited<ReturnType<typeof chromium.launch>>,
  url: string,
  visited: Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  const context = await browser.newContext({ viewport: SIZE });
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const counter = createFrameCounter();
    cdp.on("Page.screencastFrame", ({ sessionId }) => {
      cdp.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
      counter.count();
    });
    await cdp.send("Page.startScreencast", { format: "jpeg", quality: 70 });
    const shown = visited.then(counter.nextFrame);
    await page.goto(url, { waitUntil: "commit" });
    return (await shown) - startedAt;
  } finally {
    await context.close();
  }
}

export const firstPictureMeasurement: Measurement = {
  name: "first-picture",
  seconds: 40,
  measure: measureFirstPicture,
};
