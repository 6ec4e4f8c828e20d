import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright";
import { readSetup } from "#lib/setup/read-setup.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import type { Change } from "#lib/variant/document.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const ROUNDS = 15;
const ELEMENTS = 2_000;
const CHANGES = 50;

const PAGE = `<!doctype html><main>${Array.from(
  { length: ELEMENTS },
  (_, index) => `<p class="text c${index}">Paragraph <b>${index}</b> of the page</p>`,
).join("")}</main>`;

/** Changes of four kinds. Each of them affects one element. */
const changes = Array.from({ length: CHANGES }, (_, index): Change => {
  const common = { id: `c${index}`, selector: `.c${index * 40}` };
  if (index % 4 === 0) return { ...common, op: "setText", text: "New text" };
  if (index % 4 === 1) return { ...common, op: "addClass", className: "on" };
  if (index % 4 === 2) return { ...common, op: "setStyle", style: { color: "green" } };
  return { ...common, op: "insert", position: "after", html: "<p>New <i>paragraph</i></p>" };
});

/**
 * Measures how many milliseconds the main thread of a page works, from the start of the page load to the second frame
 * after the load.
 */
async function timeLoad(browser: Browser, url: string, script: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.addInitScript({ content: script });
    const cdp = await context.newCDPSession(page);
    // Thread time does not include the time in which other processes use the processor.
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(url);
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    const { metrics } = await cdp.send("Performance.getMetrics");
    const seconds = metrics.find(({ name }) => name === "TaskDuration")?.value;
    if (seconds === undefined) throw new Error("the browser reports no TaskDuration");
    return seconds * 1000;
  } finally {
    await context.close();
  }
}

/** Measures a page load with a variant's script, relative to a page load without the script. */
async function measureVariantRuntime(): Promise<Row[]> {
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end(PAGE));
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const executablePath =
    process.env.BROWSER_EXECUTABLE_PATH ??
    readSetup(process.env.DATA_DIR ?? ".data").chromium?.executablePath;
  if (executablePath === undefined) throw new Error("no Chromium was found: npm run setup");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const script = variantScript({ pages: [{ url, match: "path", changes, css: "", js: "" }] }, "main");
    for (const warmUp of [script, ""]) await timeLoad(browser, url, warmUp);
    const pairs: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round++)
      pairs.push([await timeLoad(browser, url, script), await timeLoad(browser, url, "")]);
    return [
      {
        what: `main thread: page with ${CHANGES} changes vs without`,
        value: medianRatio(pairs),
        unit: "×",
        target: { atMost: 1.5 },
        behind: {
          variantMs: median(pairs.map(([ms]) => ms)),
          bareMs: median(pairs.map(([, ms]) => ms)),
        },
      },
    ];
  } finally {
    await browser.close();
    site.closeAllConnections();
    site.close();
  }
}

export const variantRuntimeMeasurement: Measurement = {
  name: "variant-runtime",
  seconds: 15,
  measure: measureVariantRuntime,
};
