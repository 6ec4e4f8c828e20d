import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright";
import { findTestChromium } from "#lib/browser/testing.ts";
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
import { type MatrixRow, playApp } from "./matrix/run-matrix.ts";
import { KNOWN_REASONS, writeTable } from "./matrix/write-table.ts";
import { playShops } from "./play-shops.ts";

// Usage: `npm run variants [-- --only Qwik,Next] [-- --operations move,insert]`. Plays every operation on a production
// build of each framework, and every change on the shops of the tests. The packages come from npm and are kept in the
// system's temporary folder. `--only` selects apps and shops by parts of their names. The progress is written to stderr.
// A complete run writes the table to lib/docs/variants-matrix.md.

const root = resolve(import.meta.dirname, "../..");
const APPS = [
  ...[nextApp, reactRoot, nuxt, sveltekit, angular, solid, qwik, preact, astro, htmx, turbo, alpine, lit],
  strictPolicy,
];

const { values } = parseArgs({ options: { only: { type: "string" }, operations: { type: "string" } } });
const log = (text: string) => process.stderr.write(`${text}\n`);
const isChosen = (name: string) =>
  values.only?.split(",").some((part) => name.toLowerCase().includes(part.toLowerCase())) ?? true;
const operations = values.operations?.split(",");

const { executablePath, args = [], env } = findTestChromium();
const browser = await chromium.launch({
  executablePath,
  args: [...args, "--no-sandbox"],
  ...(env ? { env: { ...process.env, ...env } } : {}),
});
const rows: MatrixRow[] = [];
try {
  for (const app of APPS.filter(({ name }) => isChosen(name)))
    rows.push(await playApp(browser, app, (name) => operations?.includes(name) ?? true, log));
  const table = writeTable(rows, `Chromium ${browser.version()}`, new Date().toISOString().slice(0, 10));
  if (values.only === undefined && operations === undefined) {
    const page = join(root, "lib/docs/variants-matrix.md");
    await writeFile(page, table);
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    spawnSync(process.execPath, [biome, "format", "--write", page], { cwd: root, stdio: "inherit" });
  } else console.log(table);
} finally {
  await browser.close();
}
const areShopsRight = operations !== undefined || (await playShops(isChosen, log));
/** Whether each cell of a row is right, or wrong for a known reason. */
const isExpected = ({ app, cells, error }: MatrixRow) =>
  error === null &&
  [...cells].every(([operation, failure]) => !failure || `${app.name}, ${operation}` in KNOWN_REASONS);
process.exitCode = areShopsRight && rows.every(isExpected) ? 0 : 1;
