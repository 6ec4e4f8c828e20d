import puppeteer from "puppeteer-core";
import { callExpression, findProgram, type MatrixBrowser } from "./matrix-browser.ts";

/** Starts Debian's Firefox, which Puppeteer drives by WebDriver BiDi. Returns null if it is not installed. */
export async function launchFirefox(): Promise<MatrixBrowser | null> {
  const executablePath = findProgram("firefox-esr");
  if (executablePath === undefined) return null;
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath,
    headless: true,
    // Puppeteer switches the cache for Back off. Visitors have it.
    extraPrefsFirefox: { "fission.bfcacheInParent": true },
  });
  return {
    name: `Firefox ${(await browser.version()).split("/").at(-1)}`,
    firstScript: null,
    async open(url) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      return {
        evaluate: <Args extends unknown[], Result>(call: (...args: Args) => Result, ...args: Args) =>
          page.evaluate(callExpression(call, args)) as Promise<Result>,
        readProblems: async () => problems,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}
