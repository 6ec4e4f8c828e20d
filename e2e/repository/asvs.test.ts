import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(resolve(root, "lib/docs/asvs.md"), "utf8");

type Line = { id: string; level: number; state: string; how: string };

const lines: Line[] = page
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, id]) => /^\d+\.\d+\.\d+$/.test(id ?? ""))
  .map(([, id = "", level, , state = "", how = ""]) => ({ id, level: Number(level), state, how }));

/**
 * The number of requirements of levels 1 and 2 in each section of ASVS 5.0.0. In each section, the requirements of
 * levels 1 and 2 come first, and the requirements of level 3 follow.
 */
const SECTIONS: Record<string, number> = {
  "1.1": 2,
  "1.2": 9,
  "1.3": 11,
  "1.4": 3,
  "1.5": 2,
  "2.1": 3,
  "2.2": 3,
  "2.3": 4,
  "2.4": 1,
  "3.2": 2,
  "3.3": 4,
  "3.4": 6,
  "3.5": 5,
  "3.7": 2,
  "4.1": 3,
  "4.2": 1,
  "4.3": 2,
  "4.4": 4,
  "5.1": 1,
  "5.2": 3,
  "5.3": 2,
  "5.4": 3,
  "6.1": 3,
  "6.2": 12,
  "6.3": 4,
  "6.4": 4,
  "6.5": 5,
  "6.6": 3,
  "6.8": 4,
  "7.1": 3,
  "7.2": 4,
  "7.3": 2,
  "7.4": 5,
  "7.5": 2,
  "7.6": 2,
  "8.1": 2,
  "8.2": 3,
  "8.3": 1,
  "8.4": 1,
  "9.1": 3,
  "9.2": 4,
  "10.1": 2,
  "10.2": 2,
  "10.3": 4,
  "10.4": 11,
  "10.5": 5,
  "10.6": 2,
  "10.7": 3,
  "11.1": 2,
  "11.2": 3,
  "11.3": 3,
  "11.4": 4,
  "11.5": 1,
  "11.6": 1,
  "12.1": 3,
  "12.2": 2,
  "12.3": 4,
  "13.1": 1,
  "13.2": 5,
  "13.3": 2,
  "13.4": 5,
  "14.1": 2,
  "14.2": 4,
  "14.3": 3,
  "15.1": 3,
  "15.2": 3,
  "15.3": 7,
  "16.1": 1,
  "16.2": 5,
  "16.3": 4,
  "16.4": 3,
  "16.5": 3,
  "17.1": 1,
  "17.2": 4,
  "17.3": 2,
};

describe("the table of ASVS 5.0", () => {
  test("lists each requirement of levels 1 and 2 once, in order", () => {
    const expected = Object.entries(SECTIONS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
    );
    assert.deepEqual(
      lines.map(({ id }) => id),
      expected,
    );
    assert.equal(lines.length, 253);
    assert.equal(lines.filter(({ level }) => level === 1).length, 70);
    assert.equal(lines.filter(({ level }) => level === 2).length, 183);
  });

  test("states for each requirement whether it is met, does not apply or is not met, and why", () => {
    for (const { id, state, how } of lines) {
      assert.match(state, /^(met|n\/a|not met)$/, id);
      assert.ok(how.length > 3, id);
    }
    const count = (state: string) => lines.filter((line) => line.state === state).length;
    const sentence = `Of 253 requirements, ${count("met")} are met, ${count("n/a")} do not apply, and ${count("not met")} are not met.`;
    assert.ok(page.includes(sentence), sentence);
  });

  test("names files that exist", () => {
    const missing = lines.flatMap(({ id, how }) =>
      [...how.matchAll(/`((?:app|components|db|e2e|lib)\/[^`]+)`/g)]
        .filter(([, path = ""]) => !existsSync(resolve(root, path)))
        .map(([, path]) => `${id} ${path}`),
    );
    assert.deepEqual(missing, []);
  });
});
