import { chromium } from "playwright";
import { findTestChromium } from "#lib/browser/testing.ts";
import { callExpression, type MatrixBrowser } from "./matrix-browser.ts";

/** Starts Chromium, which Playwright drives. */
export async function launchChromium(): Promise<MatrixBrowser> {
  const { executablePath, args = [], env } = findTestChromium();
  const browser = await chromium.launch({
    executablePath,
    args: [...args, "--no-sandbox"],
    ...(env ? { env: { ...process.env, ...env } } : {}),
  });
  return {
    name: `Chromium ${browser.version()}`,
    firstScript: null,
    async open(url) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      return {
        evaluate: (call, ...args) => page.evaluate(callExpression(call, args)),
        readProblems: async () => problems,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}
