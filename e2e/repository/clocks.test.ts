import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const FILES = "{app,components,db,inngest,lib}/**/*.{ts,tsx,mjs}";

/** Matches a name that gets a monotonic time, or a function that returns one. A difference of times is not a time. */
const MONOTONIC = /\b(\w+)\s*(?:=|:|\?\?=)\s*(?:\(\) => )?performance\.now\(\)(?!\s*-)/g;

/** Returns the lines that use a monotonic time as a time of day, or calculate with both. */
function findMixedClocks(source: string): string[] {
  const names = [...source.matchAll(MONOTONIC)].map(([, name]) => name);
  if (names.length === 0) return [];
  const monotonic = String.raw`(?:(?<!Date\.)\b(?:${[...new Set(names)].join("|")})\b|performance\.now\(\))`;
  const wall = String.raw`(?:Date\.now\(\)|\.getTime\(\)|Date\.parse\([^)]*\))`;
  const mixed = new RegExp(
    String.raw`new Date\(\s*${monotonic}|${monotonic}(?:\(\))?\s*[-+<>]=?\s*[\w.]*${wall}|${wall}\s*[-+<>]=?\s*[\w.]*${monotonic}`,
  );
  return source.split("\n").filter((line) => mixed.test(line));
}

test("the test finds a monotonic time that becomes a date, and a comparison of both clocks", () => {
  const source = [
    "const startMs = performance.now();",
    "const at = new Date(startMs).toISOString();",
    "const leftMs = startMs - Date.now();",
    "const isOld = row.createdAt.getTime() < startMs;",
    "const durationMs = performance.now() - startMs;",
    "const startedAt = new Date();",
  ];
  assert.deepEqual(findMixedClocks(source.join("\n")), source.slice(1, 4));
  const clock = ["const now = () => performance.now();", "const at = new Date(now());"];
  assert.deepEqual(findMixedClocks(clock.join("\n")), clock.slice(1));
});

test("no monotonic time is used as a time of day", () => {
  const paths = globSync(FILES, { cwd: ROOT }).filter((path) => !path.includes("node_modules"));
  const mixed = paths.flatMap((path) =>
    findMixedClocks(readFileSync(join(ROOT, path), "utf8")).map((line) => `${path}: ${line.trim()}`),
  );
  assert.deepEqual(mixed, []);
});
