import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestRunInput } from "#db/schema/index.ts";
import type { BrowserLease } from "#lib/browser/browser-service.ts";
import { TEST_PROXY_SOCKET, type TestProgram } from "#lib/sandbox/sandbox-service.ts";
import type { RunnerSettings } from "./runner/settings.ts";

/**
 * The runner's output folder, relative to the workspace. Playwright clears its subfolder `files` before each test run.
 */
export const RESULTS_FOLDER = "test-results";
export const REPORT_PATH = `${RESULTS_FOLDER}/report.jsonl`;
export const PROGRESS_PATH = `${RESULTS_FOLDER}/progress.json`;

/** Maximum number of tests in a test run. A test that runs against both targets counts twice. */
export const TESTS_MAX = 1_000;
/** Time that the runner gets in addition to the tests' time limit: for starting, and for ending after that limit. */
export const RUNNER_MARGIN_MS = 15_000;

/** The port on the sandbox's loopback that is forwarded to the service's proxy. */
const PROXY_PORT = 8_899;
const WORKSPACE = "/workspace";
const RUNNER_FILES = ["start.ts", "settings.ts", "playwright.config.ts", "reporter.ts"];
/** The folder of the runner's files, as an absolute path in the sandbox. */
const RUNNER = "/run-tests";
const TEST_PACKAGE = "/node_modules/@playwright/test";

/**
 * Composes the program that runs Playwright's test runner in the sandbox.
 *
 * @param patterns regular expressions for the paths of the test files.
 * @param script the variant's script, which runs in every page of the target `variant`. Null if only the control is
 * tested, which is the page without the variant.
 */
export async function composeProgram(
  input: TestRunInput,
  lease: Pick<BrowserLease, "executablePath" | "args" | "env" | "identity" | "proxyPort">,
  { patterns, script }: { patterns: string[]; script: string | null },
): Promise<TestProgram> {
  const { executablePath, args, env, identity, proxyPort } = lease;
  const settings: RunnerSettings = {
    proxyPort: PROXY_PORT,
    proxySocket: TEST_PROXY_SOCKET,
    // The service's sandbox already confines Chromium, and Chromium's own sandbox does not work inside another sandbox.
    launchOptions: { executablePath, args, env, chromiumSandbox: false },
    identity,
    viewport: input.viewport,
    targets: input.against,
    script,
    retries: input.retries,
    baseUrl: input.baseUrl,
    timeoutMs: input.timeoutSeconds * 1_000,
    patterns,
    grep: input.grep,
    testsMax: TESTS_MAX,
    workspace: WORKSPACE,
    outputDir: `${WORKSPACE}/${RESULTS_FOLDER}/files`,
    reportPath: `${WORKSPACE}/${REPORT_PATH}`,
    progressPath: `${WORKSPACE}/${PROGRESS_PATH}`,
  };
  const ownFiles = await Promise.all(
    RUNNER_FILES.map(async (path) => ({
      path: `${RUNNER}/${path}`,
      bytes: await readFile(join(import.meta.dirname, "runner", path)),
    })),
  );
  return {
    files: [
      ...ownFiles,
      { path: `${RUNNER}/settings.json`, bytes: toBytes(settings) },
      { path: `${RUNNER}/package.json`, bytes: toBytes({ type: "module" }) },
      {
        path: `${TEST_PACKAGE}/index.js`,
        bytes: await readFile(join(import.meta.dirname, "runner/playwright-test.cjs")),
      },
      {
        path: `${TEST_PACKAGE}/package.json`,
        bytes: toBytes({ name: "@playwright/test", main: "index.js" }),
      },
    ],
    script: `${RUNNER}/start.ts`,
    packages: ["playwright", "playwright-core"],
    shown: listChromiumFolders(executablePath, env).map((folder) => ({ from: folder, to: folder })),
    proxyPort,
  };
}

const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Lists the folders of Chromium and its libraries, except those that are already visible in the sandbox. */
function listChromiumFolders(executablePath: string, env: Record<string, string>): string[] {
  const libraries = (env.LD_LIBRARY_PATH ?? "").split(":").filter(Boolean);
  return [...new Set([dirname(executablePath), ...libraries])].filter(
    (folder) => !/^\/(usr|lib|bin)\b/.test(folder),
  );
}
