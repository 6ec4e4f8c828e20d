import { parseArgs } from "node:util";
import { alpine } from "./matrix/apps/alpine.ts";
import { angular } from "./matrix/apps/angular.ts";
import { astro } from "./matrix/apps/astro.ts";
import { htmx } from "./matrix/apps/htmx.ts";
import { preact, reactRoot } from "./matrix/apps/jsx-shop.ts";
import { lit } from "./matrix/apps/lit.ts";
import { nextApp } from "./matrix/apps/next.ts";
import { nuxt } from "./matrix/apps/nuxt.ts";
import { qwik } from "./matrix/apps/qwik.ts";
import { solid } from "./matrix/apps/solid.ts";
import { strictPolicy } from "./matrix/apps/strict-policy.ts";
import { sveltekit } from "./matrix/apps/sveltekit.ts";
import { turbo } from "./matrix/apps/turbo.ts";
import { launchChromium } from "./matrix/browsers/chromium.ts";
import { launchFirefox } from "./matrix/browsers/firefox.ts";
import type { MatrixBrowser } from "./matrix/browsers/matrix-browser.ts";
import { launchWebKit } from "./matrix/browsers/webkit.ts";
import { type MatrixRow, playApp } from "./matrix/run-matrix.ts";
import { isExpected, writeTables } from "./matrix/write-table.ts";
import { playShops } from "./play-shops.ts";
import { writeDocument } from "./write-document.ts";

// Usage: `npm run variants [-- --only Qwik,Next] [--operations move,insert] [--browsers firefox]`. Plays every operation
// on a production build of each framework, in Chromium, and in Firefox and WebKit where Debian's are installed, and every
// change on the shops of the tests. The packages come from npm and are kept in the system's temporary folder. `--only`
// selects apps and shops by parts of their names. The progress is written to stderr. A complete run writes the tables to
// lib/docs/variants-matrix.md.

const APPS = [
  ...[nextApp, reactRoot, nuxt, sveltekit, angular, solid, qwik, preact, astro, htmx, turbo, alpine, lit],
  strictPolicy,
];

const BROWSERS = { Chromium: launchChromium, Firefox: launchFirefox, WebKit: launchWebKit };

const { values } = parseArgs({
  options: { only: { type: "string" }, operations: { type: "string" }, browsers: { type: "string" } },
});
const log = (text: string) => process.stderr.write(`${text}\n`);
const isChosen = (name: string) =>
  values.only?.split(",").some((part) => name.toLowerCase().includes(part.toLowerCase())) ?? true;
const operations = values.operations?.split(",");
const isComplete = Object.values(values).length === 0;

// Otherwise Playwright and Puppeteer only close their browsers on a signal, and the run continues without a browser.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const browsers: MatrixBrowser[] = [];
const missing: string[] = [];
for (const [name, launch] of Object.entries(BROWSERS)) {
  if (values.browsers?.split(",").includes(name.toLowerCase()) === false) continue;
  const browser = await launch();
  if (browser) browsers.push(browser);
  else missing.push(name);
}
const rows: MatrixRow[] = [];
try {
  for (const app of APPS.filter(({ name }) => isChosen(name)))
    rows.push(
      ...(await playApp(browsers, app, { isChosen: (name) => operations?.includes(name) ?? true, log })),
    );
  const tables = writeTables(rows, new Date().toISOString().slice(0, 10), missing);
  if (isComplete) await writeDocument("variants-matrix.md", tables);
  else console.log(tables);
} finally {
  for (const browser of browsers) await browser.close();
}
const isWithShops = operations === undefined && values.browsers === undefined;
const areShopsRight = !isWithShops || (await playShops(isChosen, log));
process.exitCode = areShopsRight && rows.every(isExpected) ? 0 : 1;
