import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import config from "#e2e/playwright.config.ts";

// The source of a test that fails on its first run and would pass on a second run.
const failingOnce = `
  import { appendFileSync, readFileSync } from "node:fs";
  import { test } from "node:test";
  appendFileSync("runs", "x");
  test("passes on every run but the first", () => {
    if (readFileSync("runs", "utf8") === "x") throw new Error("first run");
  });
  test("passes", () => {});`;

test("a failing unit test file is not retried, fails the run and is listed in the summary", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "run-tests-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "lib"), { recursive: true });
  mkdirSync(join(folder, "db"));
  symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(folder, "lib/setup"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "db/global-setup-testing.ts"), "");
  writeFileSync(join(folder, "lib/failing-once.test.ts"), failingOnce);

  const runTests = JSON.stringify(new URL("./run-tests.mjs", import.meta.url).href);
  const script = `const { runTests } = await import(${runTests});
    process.exitCode = await runTests(process.execPath, ["failing-once"], {});`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(run.stdout);
  const [output, [exitCode]] = await Promise.all([text(run.stdout), once(run, "exit")]);

  assert.equal(readFileSync(join(folder, "runs"), "utf8"), "x");
  assert.match(output, /✗ unit tests · 1 passed, 1 failed/);
  assert.match(output, /lib\/failing-once\.test\.ts › passes on every run but the first/);
  assert.equal(exitCode, 1);
});

test("a failing end-to-end test is not retried", () => {
  assert.equal(config.retries, 0);
});
