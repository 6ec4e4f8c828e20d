import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
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
  const { output, exitCode, folder } = await runUnitTests(t, { "failing-once": failingOnce });
  assert.equal(readFileSync(join(folder, "runs"), "utf8"), "x");
  assert.match(output, /✗ unit tests · 1 passed, 1 failed/);
  assert.match(output, /lib\/failing-once\.test\.ts › passes on every run but the first/);
  assert.equal(exitCode, 1);
});

test("many files share processes, one after the other, with hooks and results of their own", async (t) => {
  const sources = Object.fromEntries(
    Array.from({ length: 27 }, (_, index) => [`file-${String(index).padStart(2, "0")}`, noteOrder(index)]),
  );
  sources["file-20"] =
    `// Needs a process of its own: it counts what runs in its process.\n${sources["file-20"]}`;
  sources["file-21"] += '\ntest("fails", () => { throw new Error("here"); });';
  const { output, exitCode, folder } = await runUnitTests(t, sources);
  assert.equal(exitCode, 1);
  assert.match(output, /^✓ lib\/file-00\.test\.ts · 2 passed \(/m);
  assert.match(output, /^✗ lib\/file-21\.test\.ts · 2 passed, 1 failed \(/m);
  assert.match(output, /✗ unit tests · 54 passed, 1 failed/);
  assert.match(output, /lib\/file-21\.test\.ts › fails/);
  const groups = readFileSync(join(folder, "order"), "utf8").trim().split("\n");
  const ofProcess = Map.groupBy(groups, (line) => line.split(" ")[0] ?? "");
  const played = [...ofProcess.values()].map((lines) =>
    lines.map((line) => line.split(" ").slice(1).join(" ")),
  );
  const indexesOf = (lines: string[]) => [...new Set(lines.map((line) => Number(line.split(" ")[0])))];
  assert.deepEqual(
    played.map(indexesOf).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0)),
    [Array.from({ length: 25 }, (_, index) => index).filter((index) => index !== 20), [20], [25, 26]],
  );
  for (const lines of played)
    for (const index of indexesOf(lines))
      assert.deepEqual(
        [...new Set(lines.filter((line) => line.startsWith(`${index} `)))],
        ["loaded", "before", "each", "after"].map((step) => `${index} ${step}`),
      );
});

// The first test would fail if a hook followed each promise of the process. The others begin work that fails later.
const failingLater = `
  import { executionAsyncId } from "node:async_hooks";
  import { describe, test } from "node:test";
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
  const never = (signal) => new Promise((_, reject) => signal.addEventListener("abort", reject));
  const fail = () => { throw new Error("later"); };
  describe("a suite", async () => {
    await pause();
    test("no hook follows promises", async () => { await null; if (executionAsyncId() !== 0) fail(); });
    test("has a subtest", (t) => t.test("inside", pause));
    test("throws in a timer", async ({ signal }) => { setTimeout(fail, 1); await never(signal); });
    test("throws in a promise", async ({ signal }) => { void pause().then(fail); await never(signal); });
    test("passes", pause);
  });`;

test("an error is reported for the test that began the work, alone and in a group", async (t) => {
  for (const count of [1, 21]) {
    const names = Array.from({ length: count }, (_, index) => `file-${index}`);
    const sources = Object.fromEntries(names.map((name) => [name, withTests("is paid")]));
    const { output, exitCode } = await runUnitTests(t, { ...sources, "file-x": failingLater });
    assert.match(output, new RegExp(`✗ unit tests · ${count + 4} passed, 2 failed`));
    assert.match(output, /lib\/file-x\.test\.ts › throws in a timer/);
    assert.match(output, /lib\/file-x\.test\.ts › throws in a promise/);
    assert.equal(exitCode, 1);
  }
});

/** Returns the source of a test file that appends its process and each step to the file `order`. */
const noteOrder = (index: number) => `
  import { appendFileSync } from "node:fs";
  import { after, before, beforeEach, test } from "node:test";
  const note = (step) => appendFileSync("order", process.pid + " ${index} " + step + "\\n");
  note("loaded");
  before(() => note("before"));
  beforeEach(() => note("each"));
  after(() => note("after"));
  test("one", () => {});
  test("two", () => {});`;

test("--grep runs the tests whose name matches, in the files whose text does", async (t) => {
  const sources = Object.fromEntries(
    Array.from({ length: 22 }, (_, index) => [`file-${index}`, withTests("is paid", `has ${index} items`)]),
  );
  const { output, exitCode, folder } = await runUnitTests(
    t,
    sources,
    "--grep",
    "^has 2\\d* items$|2\\d+ items",
  );
  assert.match(output, /✓ unit tests · 2 passed, 0 failed/);
  assert.equal(exitCode, 0);
  assert.equal(readFileSync(join(folder, "loaded"), "utf8"), "xx");
});

test("a pattern that matches no name, and arguments that are invalid, fail with a sentence", async (t) => {
  const sources = { "file-1": withTests("is paid") };
  for (const [args, sentence] of [
    [["--grep", "is owed"], /^No test matches file- failing-once --unit --grep is owed\.$/m],
    // The text of the file matches, but no name.
    [["--grep", "appendFile"], /^No test matches /m],
    [["--grep", "(is paid"], /^SetupError Invalid regular expression: .*\(is paid/m],
    [["--grepp", "is paid"], /^SetupError Unknown option '--grepp'/m],
    [["--watch", "--e2e"], /^SetupError --watch runs unit tests only/m],
  ] as const) {
    const { output, exitCode } = await runUnitTests(t, sources, ...args);
    assert.match(output, sentence);
    assert.equal(exitCode, 1);
  }
});

test("--watch runs the test files again that a change affects, and only those", async (t) => {
  const sources = {
    "file-1": `import { value } from "./value.ts";
      import { test } from "node:test";
      test("passes with 1", () => { if (value !== 1) throw new Error("value " + value); });`,
    "file-2": withTests("is paid"),
  };
  const { run, folder } = startUnitTests(t, sources, "file-", "--watch");
  let output = "";
  run.stdout.on("data", (piece: string) => {
    output += piece;
  });
  const ended = once(run.stdout, "end");
  const waitFor = async (end: string) => {
    while (!output.includes(end)) {
      await Promise.race([once(run.stdout, "data"), ended]);
      if (run.stdout.readableEnded) assert.fail(`The run ended without "${end}":\n${output}`);
    }
    return output;
  };
  await waitFor("2 passed, 0 failed; waiting for changes");
  writeFileSync(join(folder, "lib/value.ts"), "export const value = 2;");
  assert.match(await waitFor("0 passed, 1 failed; waiting for changes"), /✗ passes with 1 .*\n.*value 2/);
  writeFileSync(join(folder, "lib/value.ts"), "export const value = 1;");
  await waitFor("\n1 passed, 0 failed; waiting for changes");
  assert.equal(readFileSync(join(folder, "loaded"), "utf8"), "x");
  run.kill("SIGINT");
  assert.deepEqual(await once(run, "exit"), [130, null]);
});

/** Returns the source of a test file that appends to the file `loaded` and has a passing test of each name. */
const withTests = (...names: string[]) => `
  import { appendFileSync } from "node:fs";
  import { describe, test } from "node:test";
  appendFileSync("loaded", "x");
  describe("a basket", () => { ${names.map((name) => `test("${name}", () => {});`).join(" ")} });`;

/** Runs test files in a folder of their own. @param sources by name of the file, without `.test.ts`. */
async function runUnitTests(t: TestContext, sources: Record<string, string>, ...more: string[]) {
  const { run, folder } = startUnitTests(t, sources, "file-", "failing-once", "--unit", ...more);
  const [output, [exitCode]] = await Promise.all([text(run.stdout), once(run, "exit")]);
  return { output, exitCode, folder };
}

function startUnitTests(t: TestContext, sources: Record<string, string>, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "run-tests-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "lib"), { recursive: true });
  mkdirSync(join(folder, "db"));
  symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(folder, "lib/setup"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "db/global-setup-testing.ts"), "");
  writeFileSync(join(folder, "lib/value.ts"), "export const value = 1;");
  for (const [name, source] of Object.entries(sources))
    writeFileSync(join(folder, `lib/${name}.test.ts`), source);

  const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `const { runTests } = await import(${urlOf("./run-tests.mjs")});
    const { endCommandsOnSignal } = await import(${urlOf("../command.mjs")});
    endCommandsOnSignal();
    try {
      process.exitCode = await runTests(process.execPath, ${JSON.stringify(args)}, {});
    } catch (error) {
      console.log(error.constructor.name, error.message);
      process.exitCode = 1;
    }`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => run.kill());
  run.stdout.setEncoding("utf8");
  return { run, folder };
}

test("a failing end-to-end test is not retried", () => {
  assert.equal(config.retries, 0);
});
