import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { parseEnv } from "node:util";
import { readEnv } from "#lib/server/env.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
/** The variables that the service reads, by the schema in `env.ts`. */
const variables = listMatches(
  /const envSchema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read("lib/server/env.ts"))?.[1] ?? "",
  /^ {2}([A-Z]\w+):/gm,
);
const example = read(".env.example");

describe("the settings of env.ts", () => {
  test("are all in lib/docs/configuration.md, each once, and no others", () => {
    const cells = listMatches(read("lib/docs/configuration.md"), /^\| (`.*?) +\|/gm);
    assert.ok(variables.length > 80, "the schema was not found");
    assert.deepEqual(listMatches(cells.join("\n"), /`([A-Z]\w+)`/g).sort(), variables.toSorted());
  });

  test("are all in .env.example, each once, and no others", () => {
    assert.deepEqual(listMatches(example, /^# ([A-Z]\w+)=/gm).sort(), variables.toSorted());
  });

  test("have the defaults that .env.example shows", () => {
    const shown = parseEnv(example.replaceAll(/^# (?=[A-Z]\w+=)/gm, ""));
    assert.equal(Object.keys(shown).length, variables.length);
    assert.deepEqual(readEnv(shown), readEnv({}));
  });
});

/** Returns the first capturing group of each match. */
function listMatches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}
