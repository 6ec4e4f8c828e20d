/** Step 6 of `npm test`: runs the checks, unit tests, build and end-to-end tests, and prints one summary of all. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { ensureBuilt } from "../build.mjs";
import { SERVICE_PROGRAM } from "../build-service.mjs";
import { runCommand } from "../command.mjs";
import { formatSeconds } from "../progress.mjs";
import { SetupError } from "../setup-error.mjs";
import { readStamp } from "../stamp.mjs";
import { groupTestFiles, writeGroup } from "./group-test-files.mjs";
import { readArguments, selectFiles } from "./select-tests.mjs";

/** @typedef {{ name: string, passed: number, failed: number, skipped: number, names?: string[], durationMs: number }} PartResult */
/** @typedef {Omit<PartResult, "name" | "durationMs">} Counts */
/** @typedef {{ node: string, folder: string, counts: string, grep: string | undefined, env: import("../command.mjs").Environment }} Context */

/** Path prefixes of the tests for storage and for the agent's turns. These tests also run with Neon's driver. */
const onNeon = [
  "lib/session/",
  "lib/callback/",
  "lib/events/event-log",
  "lib/browser/session/browser-store",
  "e2e/service/turn/turn.test",
  "inngest/embedded/create-embedded-engine",
  "inngest/embedded/resume",
];

/** Up to this number, each test file gets a process of its own. */
const UNGROUPED_MAX = 20;

/**
 * Whether an end-to-end test also runs on a Postgres server, not only on the embedded database. Only the crash tests
 * do, because on a server another process can take over the work of a crashed one.
 * @param {string} path
 */
const isWorthRepeating = (path) => path.startsWith("e2e/crash/");

/**
 * Runs the selected parts, or all parts if there are no arguments. `--unit` and `--e2e` select one kind of tests. Other
 * arguments are filters: only test files whose path contains one of them run. `--grep` runs the tests whose name matches
 * a regular expression; `--watch` runs the unit tests, and after each change those that the change affects.
 * @param {string} node executable of Node 24
 * @param {string[]} args
 * @param {import("../command.mjs").Environment} env additional environment variables
 * @returns {Promise<number>} the exit code
 * @throws {SetupError} if the arguments are invalid
 */
export async function runTests(node, args, env) {
  const { filters, unit, e2e, grep, watch } = readArguments(args);
  const units = selectFiles(["app", "components", "lib", "inngest", "db", "e2e"], ".test.ts", filters, grep);
  const specs = selectFiles(["e2e"], ".spec.ts", filters, grep);
  const isWhole = args.length === 0;
  const isSelected = filters.length > 0 || grep !== undefined;
  const wantsUnit = !e2e && units.length > 0;
  const wantsEndToEnd = !unit && !watch && specs.length > 0;

  const folder = mkdtempSync(join(tmpdir(), "agent-session-tests-"));
  const context = {
    node,
    folder,
    counts: join(folder, "counts.json"),
    grep,
    // Hundreds of processes load the same modules. With this cache, starting them takes only about 60 % of the CPU
    // time.
    env: { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node-compile"), ...env },
  };
  /** @type {PartResult[]} */
  const results = [];
  try {
    if (watch) return units.length > 0 ? await watchUnitTests(context, units) : reportNoMatch(args);
    if (isWhole) {
      results.push(
        await runPart("biome", () => runCheck(node, ["node_modules/@biomejs/biome/bin/biome", "check", "."])),
      );
      results.push(
        await runPart("types", () =>
          runCheck(node, ["node_modules/typescript/bin/tsc", "--noEmit", "--incremental", "false"]),
        ),
      );
    }
    if (isWhole)
      results.push(await runPart("language", () => runCheck(node, ["lib/setup/check-language.mjs"])));
    if (wantsUnit) results.push(await runPart("unit tests", () => runUnitTests(context, units)));
    const storage = units.filter(startsWithOneOf(onNeon));
    // Skips this part if no file matches, because Node's runner would then search for test files itself.
    if (wantsUnit && (isWhole || unit) && storage.length > 0) {
      results.push(
        await runPart("storage and turns with Neon's driver", () =>
          runUnitTests(onDatabase(context, "neon"), storage),
        ),
      );
    }
    if (wantsEndToEnd) {
      const build = await runPart("build", () => runBuild(node));
      results.push(build);
      if (build.failed === 0) {
        results.push(
          await runPart("end-to-end tests", () => runEndToEndTests(context, isSelected ? specs : [])),
        );
        if (!isSelected)
          results.push(
            await runPart("crashes on a Postgres server", () =>
              runEndToEndTests(onDatabase(context, "pg"), specs.filter(isWorthRepeating)),
            ),
          );
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const exitCode = summarize(results);
  const hasTests = results.some(({ passed, failed, skipped }) => passed + failed + skipped > 0);
  return hasTests ? exitCode : reportNoMatch(args);
}

/**
 * @param {string[]} args
 * @returns {number} the exit code
 */
function reportNoMatch(args) {
  console.log(`No test matches ${args.join(" ")}.`);
  return 1;
}

/**
 * @param {Context} context
 * @param {string} driver
 * @returns {Context}
 */
const onDatabase = (context, driver) => ({ ...context, env: { ...context.env, TEST_DATABASE: driver } });

/** @param {string[]} parts */
const startsWithOneOf = (parts) => (/** @type {string} */ path) =>
  parts.some((part) => path.startsWith(part));

/**
 * @param {string} name
 * @param {() => Promise<Counts>} run
 * @returns {Promise<PartResult>}
 */
async function runPart(name, run) {
  console.log(`\n── ${name}`);
  const startedAt = Date.now();
  return { name, ...(await run()), durationMs: Date.now() - startedAt };
}

/**
 * Runs a check. A failed check counts as one failed test; a passed check does not count.
 * @param {string} node
 * @param {string[]} args
 */
async function runCheck(node, args) {
  const result = await runCommand(node, args);
  if (!result.ok) console.log(result.output.trimEnd());
  return { passed: 0, failed: result.ok ? 0 : 1, skipped: 0 };
}

/** @param {string} node */
async function runBuild(node) {
  try {
    await ensureBuilt(node);
    return { passed: 0, failed: 0, skipped: 0 };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`${error.details.trimEnd()}\n${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/**
 * Runs test files without retries, because a flaky test shows a bug in the code or in the test.
 * @param {Context} context
 * @param {string[]} files
 * @returns {Promise<Counts>}
 */
async function runUnitTests(context, files) {
  rmSync(context.counts, { force: true });
  const folder = mkdtempSync(join(context.folder, "groups-"));
  // Names are matched with the suites around them, and a group adds a suite, so a group would change which tests match.
  const isGrouped = files.length > UNGROUPED_MAX && context.grep === undefined;
  const entries = isGrouped
    ? groupTestFiles(files).map((group, index) => writeGroup(group, folder, index))
    : files;
  const result = await runNodeTests(context, entries);
  const counts = /** @type {import("./test-reporter.mjs").RunCounts | undefined} */ (
    readStamp(context.counts)
  );
  const { passed = 0, failed = 0, skipped = 0, failures = [] } = counts ?? {};
  const names = failures.map(({ file, name }) => `${relative(".", file)} › ${name}`);
  return withExitCode(result.ok, { passed, failed, skipped, names });
}

/**
 * Runs unit tests until a signal ends the process. After a change of a file, the test files that import it run again.
 * @param {Context} context
 * @param {string[]} files
 */
async function watchUnitTests(context, files) {
  return (await runNodeTests(context, ["--watch", ...files])).exitCode;
}

/**
 * @param {Context} context
 * @param {string[]} more files, and further options of Node
 */
function runNodeTests(context, more) {
  return runCommand(
    context.node,
    [
      "--disable-warning=ExperimentalWarning",
      "--test",
      // Tests wait for pages and processes a part of the time, so two processors are busy with three files. With more,
      // pages become so slow on a busy machine that they exceed the limits that the product has for them.
      "--test-concurrency=3",
      // With this limit, a test that hangs is reported as failed, instead of blocking the whole run.
      "--test-timeout=300000",
      "--import=./lib/setup/tests/limit-test-file.mjs",
      "--test-global-setup=./db/global-setup-testing.ts",
      "--test-reporter=./lib/setup/tests/test-reporter.mjs",
      "--test-reporter-destination=stdout",
      ...(context.grep === undefined ? [] : [`--test-name-pattern=${context.grep}`]),
      ...more,
    ],
    { inherit: true, env: { ...context.env, NODE_ENV: "test", TEST_COUNTS_PATH: context.counts } },
  );
}

/**
 * @param {Context} context
 * @param {string[]} specs
 */
async function runEndToEndTests(context, specs) {
  rmSync(context.counts, { force: true });
  const result = await runCommand(
    context.node,
    [
      "node_modules/@playwright/test/cli.js",
      "test",
      "--config=e2e/playwright.config.ts",
      "--reporter=list,json",
      ...(context.grep === undefined ? [] : ["--grep", context.grep, "--pass-with-no-tests"]),
      // Playwright interprets the arguments as regular expressions, so special characters in the paths are escaped.
      ...specs.map((path) => `${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`),
    ],
    {
      inherit: true,
      env: {
        ...context.env,
        NODE_ENV: "test",
        SERVICE_PROGRAM,
        PLAYWRIGHT_JSON_OUTPUT_FILE: context.counts,
      },
    },
  );
  const stats = /** @type {Record<string, number> | undefined} */ (readStamp(context.counts)?.stats);
  return withExitCode(result.ok, {
    passed: stats?.expected ?? 0,
    failed: stats?.unexpected ?? 0,
    skipped: stats?.skipped ?? 0,
  });
}

/**
 * Counts at least one failure if the command failed, because a crash or a missing browser yields no failed test.
 * @param {boolean} ok
 * @param {Counts} counts
 */
function withExitCode(ok, counts) {
  return { ...counts, failed: ok ? counts.failed : Math.max(1, counts.failed) };
}

/**
 * @param {PartResult[]} results
 * @returns {number} the exit code
 */
function summarize(results) {
  console.log("\n── summary");
  for (const { name, passed, failed, skipped, names = [], durationMs } of results) {
    const counts = passed + failed + skipped > 0 ? ` · ${passed} passed, ${failed} failed` : "";
    const rest = skipped > 0 ? `, ${skipped} skipped` : "";
    console.log(`${failed === 0 ? "✓" : "✗"} ${name}${counts}${rest} (${formatSeconds(durationMs)})`);
    for (const failure of names) console.log(`    ${failure}`);
  }
  const passed = results.reduce((sum, part) => sum + part.passed, 0);
  const failed = results.reduce((sum, part) => sum + part.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && results.length > 0 ? 0 : 1;
}
