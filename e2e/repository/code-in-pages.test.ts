import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type bundles from "#lib/injected/bundles.json";

const root = resolve(import.meta.dirname, "../..");
/** Ways to send the source text of a function to a page. */
const SENT_AS_SOURCE = [
  /\.(evaluate|evaluateAll|evaluateHandle|addInitScript|waitForFunction)\(\s*(async\s*)?(\(|function\b|\w+\s*=>|[a-z]\w*,)/,
  /\(\$\{\w+(\.toString\(\))?\}\)\(/,
  /\.register\("\w+", [^{]/,
];
/** In the element that a locator finds, Playwright evaluates only functions. */
const ALLOWED = [/^lib\/variant\/previews\/take-pictures\.ts$/];

test("no function is sent to a page as its source text", () => {
  const found = globSync("lib/{browser,test-runs,tools,mcp-server,variant}/**/*.ts", { cwd: root })
    .filter((path) => !/\.test\.ts$|testing\.ts$/.test(path) && !ALLOWED.some((each) => each.test(path)))
    .flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .filter((line) => SENT_AS_SOURCE.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});

test("only code that runs inside pages, and the code that calls it, is in lib/injected", () => {
  const entries = JSON.parse(readFileSync(join(root, "lib/injected/bundles.json"), "utf8")) as typeof bundles;
  for (const path of Object.values(entries)) assert.match(path, /^[\w-]+\/main\.ts$/);
  const inPages = globSync("lib/injected/*/**/*.ts", { cwd: root }).filter(
    (path) => !path.endsWith(".test.ts"),
  );
  const onNode = inPages.filter((path) =>
    /from "(node:|playwright|zod)/.test(readFileSync(join(root, path), "utf8")),
  );
  assert.deepEqual(onNode, []);
});
