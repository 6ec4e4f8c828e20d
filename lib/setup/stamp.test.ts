import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { readSetup } from "./read-setup.ts";
import { hashTree, readStamp, writeStamp } from "./stamp.mjs";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stamp-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a stamp", () => {
  test("changes only with a file's content, name or modification time", () => {
    const source = join(folder, "source");
    const file = join(source, "a", "page.tsx");
    mkdirSync(join(source, "a"), { recursive: true });
    writeFileSync(file, "one");
    const first = hashTree([source]);
    assert.equal(hashTree([source]), first);
    utimesSync(file, 1, 1);
    const touched = hashTree([source]);
    assert.notEqual(touched, first);
    writeFileSync(join(source, "new.ts"), "");
    assert.notEqual(hashTree([source]), touched);
    assert.equal(
      hashTree([source], (path) => !path.endsWith("new.ts")),
      touched,
    );
  });

  test("that is missing or damaged is ignored", () => {
    const path = join(folder, "deep", "stamp.json");
    assert.equal(readStamp(path), undefined);
    writeStamp(path, { sources: "x" });
    assert.deepEqual(readStamp(path), { sources: "x" });
    writeFileSync(path, '{"sources": ');
    assert.equal(readStamp(path), undefined);
  });
});

describe("the result of the set-up", () => {
  test("is read as it was written", () => {
    const chromium = {
      executablePath: "/opt/chromium",
      source: "package",
      version: "153.0.8010.0",
      env: { A: "b" },
    };
    writeStamp(join(folder, "setup.json"), {
      chromium,
      hasTriedInstalling: true,
      searchedAt: "2026-01-01T00:00:00Z",
    });
    assert.deepEqual(readSetup(folder), { chromium });
  });

  test("is empty if the file is missing or invalid", () => {
    assert.deepEqual(readSetup(folder), { chromium: null });
    writeStamp(join(folder, "setup.json"), { chromium: { executablePath: 7 } });
    assert.deepEqual(readSetup(folder), { chromium: null });
  });
});
