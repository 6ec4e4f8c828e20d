import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as base, type ConsoleMessage, expect, type Page } from "@playwright/test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import { checkAnswersOfPages } from "../fixtures/check-answers.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { RecordedRequest, ScriptedModel, Step } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService } from "../fixtures/service.ts";

type WebPage = Awaited<ReturnType<typeof startWebPage>>;

/** What the tests of one Playwright worker share: the service, its model, and the web page that its agents open. */
export type Stage = { model: ScriptedModel; service: RunningService; webPage: WebPage };

/**
 * A test with one service, one model and one web page for each Playwright worker. The test fails if the browser logs an
 * error, or if an answer of the service does not match the OpenAPI document.
 */
export const test = base.extend<{ cleanConsole: { allow: (pattern: RegExp) => void } }, { stage: Stage }>({
  stage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from this pattern
    async ({}, use) => {
      const model = await startScriptedModel();
      const webPage = await startWebPage();
      const service = await startService({
        OPENAI_BASE_URL: model.baseUrl,
        // Browsers take most of the processors' time. Those of earlier tests end soon, and a new session gets a context in
        // a Chromium that runs already. How sessions are isolated is the subject of other tests.
        BROWSER_IDLE_MS: "60000",
        BROWSER_CONTEXTS_PER_PROCESS: "8",
      });
      await use({ model, service, webPage });
      await service.close();
      await webPage.close();
      await model.close();
    },
    { scope: "worker", timeout: 300_000 },
  ],
  cleanConsole: [
    async ({ context }, use) => {
      const errors: string[] = [];
      const allowed: RegExp[] = [];
      const listen = (page: Page) => {
        page.on("pageerror", (error) => errors.push(error.stack ?? `${error.name}: ${error.message}`));
        page.on("console", (message: ConsoleMessage) => {
          const text = `${message.type()}: ${message.text()} (${message.location().url})`;
          if (message.type() === "error" || /content security policy/i.test(text)) errors.push(text);
        });
      };
      context.on("page", listen);
      const findUndocumented = checkAnswersOfPages(context);
      await use({ allow: (pattern) => allowed.push(pattern) });
      const unexpected = errors.filter((error) => !allowed.some((pattern) => pattern.test(error)));
      expect(unexpected, "the page's console has no errors").toEqual([]);
      expect(await findUndocumented(), "every answer is as documented").toEqual([]);
    },
    { auto: true },
  ],
});

/**
 * Scripts the model. The first key of `answers` that is part of the user's text chooses the steps. Each step is one
 * answer of the turn; the last step repeats.
 */
export function script(model: ScriptedModel, answers: Record<string, Step[]>): void {
  model.respondWith((request) => {
    const steps = Object.entries(answers).find(([words]) => request.userText.includes(words))?.[1];
    return steps?.[Math.min(request.answersSoFar, steps.length - 1)];
  });
}

/** Returns the names of the tools in a request to the model. */
export const toolsOf = (request: RecordedRequest | undefined): string[] => readOfferedTools(request);

/** Creates a step of the model in which the agent opens an address in the live browser. */
export const goTo = (url: string, text = ""): Step => ({
  text,
  toolCalls: [
    {
      name: "browser_execute",
      arguments: { script: `await page.goto(${JSON.stringify(url)}); return page.title();` },
    },
  ],
});

/** Returns helpers for the live view: its canvas, its colors, and the mouse at positions of the live page. */
export function liveView(page: Page) {
  const canvas = page.getByRole("img", { name: "Live view of the page" });
  const surface = page.getByLabel(/^Live browser: /);
  const toScreen = async (x: number, y: number) => {
    await surface.waitFor({ state: "attached" });
    const box = await canvas.boundingBox();
    if (!box) throw new Error("the live view is not on the screen");
    const { width, height } = await canvas.evaluate((element) => ({
      width: (element as HTMLCanvasElement).width,
      height: (element as HTMLCanvasElement).height,
    }));
    return { x: box.x + (x / width) * box.width, y: box.y + (y / height) * box.height };
  };
  return {
    canvas,
    /** Returns the current picture of the live view as a data URL. */
    picture: () => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL("image/png")),
    /** Returns the color at a point of the live page, as [red, green, blue]. */
    colorAt: (x: number, y: number) =>
      canvas.evaluate(
        (element, [x, y]) => [
          ...((element as HTMLCanvasElement).getContext("2d")?.getImageData(x, y, 1, 1).data.slice(0, 3) ??
            []),
        ],
        [x, y] as const,
      ),
    /** Takes control from the agent. */
    async takeOver() {
      await page
        .getByRole("region", { name: "Live browser" })
        .getByRole("button", { name: "Take over" })
        .click();
      await expect(page.getByText("You have control")).toBeVisible();
    },
    /** Gives control back, without a note. */
    async giveBack() {
      const region = page.getByRole("region", { name: "Live browser" });
      await region.getByRole("button", { name: "Give back" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
      await expect(page.getByText("You have control")).toHaveCount(0);
    },
    async move(x: number, y: number) {
      const at = await toScreen(x, y);
      await page.mouse.move(at.x, at.y);
    },
    async click(x: number, y: number, button: "left" | "right" = "left") {
      const at = await toScreen(x, y);
      await page.mouse.click(at.x, at.y, { button });
    },
    async drag(from: readonly [x: number, y: number], to: readonly [x: number, y: number]) {
      const [start, end] = [await toScreen(...from), await toScreen(...to)];
      await page.mouse.move(start.x, start.y);
      await page.mouse.down();
      await page.mouse.move(end.x, end.y, { steps: 10 });
      await page.mouse.up();
    },
  };
}

/**
 * Matches the background color of the tests' web page, with a tolerance, because the compression of the pictures
 * changes colors slightly.
 */
export const GREEN = [0, 128, 0].map((part) => expect.closeTo(part, -1.2) as unknown as number);

/** Positions of elements on the tests' web page, in CSS pixels. */
export const PLACES = { field: { x: 300, y: 130 }, heading: { x: 300, y: 300 }, blink: { x: 900, y: 130 } };

/** Starts a web page with a blinking box and a field. The page sends every value of the field to its server. */
async function startWebPage() {
  const typed: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://page");
    if (pathname === "/typed") {
      typed.push(searchParams.get("value") ?? "");
      return void response.writeHead(204).end();
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(HTML);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    typed,
    url: `http://127.0.0.1:${port}/page`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const HTML = `<!doctype html><html lang="en"><title>The page</title><link rel="icon" href="data:,">
<style>
  body { margin: 0; background: rgb(0, 128, 0); font: 20px sans-serif; }
  input { position: absolute; left: 100px; top: 100px; width: 400px; height: 60px; font-size: 24px; }
  h1 { position: absolute; left: 100px; top: 270px; width: 400px; height: 60px; margin: 0; background: white; }
  #blink { position: absolute; left: 800px; top: 30px; width: 200px; height: 200px; background: red; }
</style>
<input id="name" aria-label="Name">
<h1 id="offer">The offer</h1><div id="blink"></div>
<script>
  const field = document.getElementById("name"), blink = document.getElementById("blink");
  // One after the other: parallel requests may arrive in another order.
  let lastRequest = Promise.resolve();
  field.addEventListener("input", () => {
    const address = "/typed?value=" + encodeURIComponent(field.value);
    lastRequest = lastRequest.then(() => fetch(address));
  });
  setInterval(() => { blink.style.background = blink.style.background === "blue" ? "red" : "blue"; }, 400);
</script></html>`;
