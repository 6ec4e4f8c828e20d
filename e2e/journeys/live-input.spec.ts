import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, expect, type Page } from "@playwright/test";
import { waitUntil } from "../fixtures/service.ts";
import { goTo, liveView, type Stage, script, test } from "./journey.ts";

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Desk</title><link rel="icon" href="data:,">
<style>
  body { margin: 0; font: 20px monospace; height: 4000px; }
  body > * { position: absolute; margin: 0; left: 20px; }
  #slider { top: 80px; width: 200px; } #field { top: 260px; width: 300px; height: 60px; }
  #source { top: 140px; width: 80px; height: 40px; background: #88f; }
  #target { left: 200px; top: 140px; width: 120px; height: 80px; background: #8f8; }
</style>
<p style="top: 20px">hello there</p><input id="slider" aria-label="Slider" type="range" value="0">
<div id="source" draggable="true">drag</div><div id="target">drop</div><textarea id="field" aria-label="Text"></textarea>
<script>
  let last = Promise.resolve();
  const say = (text) => { last = last.then(() => fetch("/log?text=" + encodeURIComponent(text))); };
  const target = document.getElementById("target"), field = document.getElementById("field");
  document.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", "item"));
  target.addEventListener("dragover", (event) => event.preventDefault());
  target.addEventListener("drop", (event) => { event.preventDefault(); say("dropped " + event.dataTransfer.getData("text/plain")); });
  document.getElementById("slider").addEventListener("change", ({ target: { value } }) => say("slider " + (value > 40)));
  field.addEventListener("input", () => say("field " + field.value));
  document.addEventListener("selectionchange", () => say("selected " + getSelection()));
  document.addEventListener("contextmenu", () => say("menu"));
  addEventListener("scroll", () => { if (scrollY > 150) say("scrolled"); });
  addEventListener("resize", () => say("size " + innerWidth + " " + innerHeight));
  visualViewport.addEventListener("resize", () => { if (visualViewport.scale > 1.3) say("zoomed"); });
</script></html>`;

/** Starts a page that reports what people do in it. */
async function startDesk() {
  const log: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://page");
    if (pathname !== "/log") return void response.writeHead(200, { "content-type": "text/html" }).end(HTML);
    log.push(searchParams.get("text") ?? "");
    response.writeHead(204).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/desk`,
    says: (text: string) => waitUntil(() => log.includes(text), text),
    forget: () => log.splice(0),
    log,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const desk = test.extend<{ desk: Awaited<ReturnType<typeof startDesk>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from this pattern
  desk: async ({}, use) => {
    const started = await startDesk();
    await use(started);
    await started.close();
  },
});

/** Opens the session page of a session whose agent has opened the desk. */
async function openSession(page: Page, { model, service }: Stage, url: string): Promise<void> {
  script(model, { "[open]": [goTo(url), { text: "The page is open." }] });
  const session = await service.create("[open] the page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The page is open.")).toBeVisible();
}

desk(
  "on a desktop, a person selects, copies, drags, pastes and sets the size",
  async ({ page, context, stage, desk: { url, says } }) => {
    await page.setViewportSize({ width: 1600, height: 900 });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openSession(page, stage, url);
    const live = liveView(page);
    await expect(live.canvas).toBeVisible();
    await live.takeOver();
    await live.click(600, 400);
    await expect(page.getByText("You have control")).toBeVisible();

    await live.drag([21, 32], [21 + 12 * 5, 32]);
    await says("selected hello");
    await page.keyboard.press("Control+c");
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("hello");
    await live.drag([30, 90], [190, 90]);
    await says("slider true");
    await live.drag([50, 160], [260, 180]);
    await says("dropped item");
    await live.click(60, 280);
    await page.keyboard.press("Control+v");
    await says("field hello");
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Control+x");
    await says("field ");
    await live.click(600, 400, "right");
    await says("menu");

    await page.getByRole("button", { name: "View", exact: true }).click();
    await page.getByRole("menuitemradio", { name: /Phone/ }).click();
    await says("size 390 844");
    await expect.poll(() => live.canvas.evaluate((canvas) => (canvas as HTMLCanvasElement).width)).toBe(390);
    await page.keyboard.press("Escape");

    const splitter = page.getByRole("separator", { name: "Width of the conversation" });
    const left = async () => (await splitter.boundingBox())?.x ?? 0;
    const before = await left();
    await splitter.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(left).toBe(before + 64);
    await page.reload();
    await expect.poll(left).toBe(before + 64);
  },
);

/** Opens a context that has a touch screen with two device pixels per CSS pixel. */
const openPhone = (browser: Browser) =>
  browser.newContext({
    viewport: { width: 390, height: 780 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  });

desk(
  "on a phone, a person swipes, taps, presses long and zooms in the page",
  async ({ browser, stage, desk: { url, says, forget } }) => {
    const context = await openPhone(browser);
    const page = await context.newPage();
    await openSession(page, stage, url);
    await page
      .getByRole("navigation", { name: "Parts of the session" })
      .getByRole("button", { name: "Browser" })
      .tap();
    const live = liveView(page);
    await expect(live.canvas).toBeVisible();
    const box = await live.canvas.boundingBox();
    if (!box) throw new Error("the live view is not on the screen");
    const center = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await live.takeOver();

    await page.getByRole("button", { name: "View", exact: true }).tap();
    await page.getByRole("menuitemradio", { name: "Fit" }).tap();
    // The picture has the size of the room for it, with the pixels of the screen.
    await expect
      .poll(() => live.canvas.evaluate((canvas) => (canvas as HTMLCanvasElement).width / canvas.clientWidth))
      .toBeCloseTo(1.5, 1);
    await page.keyboard.press("Escape");
    forget();

    const client = await context.newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...points: [x: number, y: number][]) =>
      client.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: points.map(([x, y], id) => ({ x: center.x + x, y: center.y + y, id })),
      });
    await touch("touchStart", [0, 100]);
    for (let y = 90; y >= -150; y -= 10) await touch("touchMove", [0, y]);
    await touch("touchEnd");
    await says("scrolled");
    await touch("touchStart", [0, 60]);
    await says("menu");
    await touch("touchEnd");
    await touch("touchStart", [-10, 0]);
    await touch("touchStart", [-10, 0], [10, 0]);
    for (let step = 1; step <= 10; step += 1)
      await touch("touchMove", [-10 - 8 * step, 0], [10 + 8 * step, 0]);
    await touch("touchEnd");
    await says("zoomed");
    expect(await page.evaluate(() => visualViewport?.scale), "our own page does not zoom").toBe(1);
    await context.close();
  },
);
