import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as base, type ConsoleMessage, expect, type Page } from "@playwright/test";
import { checkAnswersOfPages } from "../fixtures/check-answers.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { RecordedRequest, ScriptedModel, Step } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService } from "../fixtures/service.ts";

type WebPage = Awaited<ReturnType<typeof startWebPage>>;

/** The service of a file, its model, and the page that its agents open. */
export type Stage = { model: ScriptedModel; service: RunningService; webPage: WebPage };

/** What a journey runs on: one service, one model and one web page per file, and a console that stays clean. */
export const test = base.extend<{ cleanConsole: { allow: (pattern: RegExp) => void } }, { stage: Stage }>({
  stage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from this pattern
    async ({}, use) => {
      const model = await startScriptedModel();
      const webPage = await startWebPage();
      const service = await startService({ OPENAI_BASE_URL: model.baseUrl });
      await use({ model, service, webPage });
      await service.close();
      await webPage.close();
      await model.close();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  cleanConsole: [
    async ({ context }, use) => {
      const complaints: string[] = [];
      const allowed: RegExp[] = [];
      const listen = (page: Page) => {
        page.on("pageerror", (error) => complaints.push(error.stack ?? `${error.name}: ${error.message}`));
        page.on("console", (message: ConsoleMessage) => {
          const text = `${message.type()}: ${message.text()} (${message.location().url})`;
          if (message.type() === "error" || /content security policy/i.test(text)) complaints.push(text);
        });
      };
      context.on("page", listen);
      const findUndocumented = checkAnswersOfPages(context);
      await use({ allow: (pattern) => allowed.push(pattern) });
      const left = complaints.filter((complaint) => !allowed.some((pattern) => pattern.test(complaint)));
      expect(left, "the page's console holds no errors").toEqual([]);
      expect(await findUndocumented(), "every answer is as documented").toEqual([]);
    },
    { auto: true },
  ],
});

/** Lets the model answer requests of one journey, by the answers the turn holds so far; the last step repeats. */
export function script(model: ScriptedModel, answers: Record<string, Step[]>): void {
  model.respondWith((request) => {
    const steps = Object.entries(answers).find(([words]) => request.userText.includes(words))?.[1];
    return steps?.[Math.min(request.answersSoFar, steps.length - 1)];
  });
}

/** Names of the tools that a model call was offered. */
export const toolsOf = (request: RecordedRequest | undefined): string[] =>
  ((request?.body.tools ?? []) as { name: string }[]).map(({ name }) => name);

/** A step that goes to an address in the live browser. */
export const goTo = (url: string, text = ""): Step => ({
  text,
  toolCalls: [
    {
      name: "browser_execute",
      arguments: { script: `await page.goto(${JSON.stringify(url)}); return page.title();` },
    },
  ],
});

/** The live view: what is drawn now, and the place on the screen of a point of the page. */
export function liveView(page: Page) {
  const canvas = page.getByRole("img", { name: "Live view of the page" });
  const toScreen = async (x: number, y: number) => {
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
    /** The picture as a data URL. */
    picture: () => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL("image/png")),
    /** The colour at a point of the page, as [red, green, blue]. */
    colorAt: (x: number, y: number) =>
      canvas.evaluate(
        (element, [x, y]) => [
          ...((element as HTMLCanvasElement).getContext("2d")?.getImageData(x, y, 1, 1).data.slice(0, 3) ??
            []),
        ],
        [x, y] as const,
      ),
    async move(x: number, y: number) {
      const at = await toScreen(x, y);
      await page.mouse.move(at.x, at.y);
    },
    async click(x: number, y: number) {
      const at = await toScreen(x, y);
      await page.mouse.click(at.x, at.y);
    },
  };
}

/** The colour of the page of the journeys. Pictures are compressed, so each part of a colour is near, not equal. */
export const GREEN = [0, 128, 0].map((part) => expect.closeTo(part, -1.2) as unknown as number);

/** Where things are on the web page of the journeys, in its own pixels. */
export const PLACES = { field: { x: 300, y: 130 }, heading: { x: 300, y: 300 }, blink: { x: 900, y: 130 } };

/** A page to look at and to type into: it blinks, and tells its server what stands in its field. */
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
  // One after the other: requests made side by side may arrive in another order.
  let told = Promise.resolve();
  field.addEventListener("input", () => {
    const address = "/typed?value=" + encodeURIComponent(field.value);
    told = told.then(() => fetch(address));
  });
  setInterval(() => { blink.style.background = blink.style.background === "blue" ? "red" : "blue"; }, 400);
</script></html>`;
