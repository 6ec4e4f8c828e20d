import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const FOLDERS = ["app", "components", "db", "e2e", "findings", "inngest", "lib", "public"];
const FILES = ["next.config.ts", "package.json", "package-lock.json", "tsconfig.json"];
const TEXTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "AGENTS.md"];
/** Files that a tool finds at the top level only: Biome, PostCSS (for Tailwind), and Next. */
const OF_TOOLS = ["biome.json", "postcss.config.mjs", "proxy.ts"];

test("the top level has its fixed files and folders, and dot-files", () => {
  assert.deepEqual(
    listTopLevel().filter((name) => !name.startsWith(".")),
    [...FOLDERS, ...FILES, ...TEXTS, ...OF_TOOLS].sort(),
  );
});

/** Lists the names at the top level that `.gitignore` does not ignore. */
function listTopLevel(): string[] {
  const lines = readFileSync(join(root, ".gitignore"), "utf8").trimEnd().split("\n");
  const ignored = lines.map((line) => line.replace(/^\/|\/$/g, ""));
  return readdirSync(root)
    .filter((name) => !ignored.some((pattern) => matchesGlob(name, pattern)))
    .sort();
}
