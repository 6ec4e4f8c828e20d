import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { extname, join } from "node:path";
import { it } from "node:test";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import type { TestRun } from "#lib/events/event.ts";
import { makeSandboxFixture } from "#lib/sandbox/sandbox-fixture.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { openSite, playTurn, step } from "../variants/variants-testing.ts";

const sandboxes = await makeSandboxFixture();
const { isConfined } = sandboxes;
await sandboxes.remove();

/**
 * Defines a test that needs test runs. If this machine cannot confine commands, defines a test of the refusal of test
 * runs instead.
 */
export function itRuns(title: string, test: () => Promise<void>): void {
  if (isConfined) it(title, test);
  else
    it(`${title} (no confinement on this machine: the refusal is checked instead)`, async () => {
      const { service, close } = await openTestRunsService();
      const { results } = await playTurn(service, [step("run_tests")]);
      assert.match(results[0] ?? "", /There is no tool "run_tests"/);
      await close();
    });
}

const demo = join(import.meta.dirname, "../../../public/demo");
const suite = join(import.meta.dirname, "../../fixtures/workspace-tests");
const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

/** Serves the files of the demo shop directly from disk. */
const serveDemo: RequestListener = async (request, response) => {
  const name = /^\/demo\/([\w-]+\.\w+)$/.exec(new URL(request.url ?? "/", "http://shop").pathname)?.[1];
  const bytes = name && (await readFile(join(demo, name)).catch(() => undefined));
  if (!bytes) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": MEDIA_TYPES[extname(name)] ?? "text/plain" }).end(bytes);
};

/**
 * Starts a service with a browser and a sandbox, and a server for the demo shop.
 *
 * @param isStrict If true, pages may reach no server on this machine except the shop.
 */
export async function openTestRunsService(variables: Record<string, string> = {}, isStrict = false) {
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  const shop = await openSite(serveDemo);
  const service = await openTestService({
    BROWSER_EXECUTABLE_PATH,
    ...(isStrict && { NETWORK_ALLOW: new URL(shop.url).host }),
    ...variables,
  });
  const close = async () => {
    await service.close();
    shop.close();
  };
  return { service, shop, close };
}

/** Creates a step that writes a file to the workspace. */
export const write = (path: string, content: string): Step => step("write_file", { path, content });

/**
 * Creates steps that write files of the fixture suite to the workspace: the files with the given names, or all files.
 */
export async function writeSuite(names?: string[]): Promise<Step[]> {
  const files = names ?? (await readdir(suite));
  return Promise.all(
    files.map(async (name) => write(`tests/${name}`, await readFile(join(suite, name), "utf8"))),
  );
}

/** Creates steps that start a test run and wait for its results. */
export const runAndWait = (input: Record<string, unknown> = {}): Step[] => [
  step("run_tests", input),
  step("wait_for_test_results"),
];

/** The result of a test in an answer of the API. */
export type ShownResult = {
  target: string;
  file: string;
  titles: string[];
  status: string;
  attempts: number;
  errors: string[];
  steps: { title: string; error?: string }[];
  attachments: {
    name: string;
    mediaType: string;
    evidenceId: string | null;
    problem: string | null;
    sizeBytes: number;
  }[];
  annotations: { type: string; description?: string }[];
  output: string;
};

export const listRuns = async (service: TestService, sessionId: string): Promise<TestRun[]> =>
  (await service.read<{ data: TestRun[] }>(`/api/sessions/${sessionId}/tests`)).data;

export const readRun = async (service: TestService, sessionId: string, id: string) =>
  (
    await service.read<{ testRun: TestRun & { sessionId: string; results: ShownResult[] } }>(
      `/api/sessions/${sessionId}/tests/${id}`,
    )
  ).testRun;

/** Waits until the newest test run of a session has ended. @returns the run with its results. */
export async function untilEnded(service: TestService, sessionId: string, withinMs = 150_000) {
  let newest: TestRun | undefined;
  await waitUntil(
    async () => {
      [newest] = await listRuns(service, sessionId);
      return newest !== undefined && newest.endedAt !== null;
    },
    "the test run has ended",
    withinMs,
  );
  return readRun(service, sessionId, newest?.id ?? "");
}
