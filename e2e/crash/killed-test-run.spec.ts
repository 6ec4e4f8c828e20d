import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService } from "../fixtures/service.ts";
import { listAlive, listDescendants, type ProcessId } from "./processes.ts";
import { haveEnded, readLog } from "./read-log.ts";

const SPEC = `import { expect, test } from "@playwright/test";
test("first", async ({ page }) => { await page.setContent("<h1>Hello</h1>"); await expect(page.locator("h1")).toHaveText("Hello"); });
test("second", async () => { await new Promise((done) => setTimeout(done, 3_000)); });`;

const call = (name: string, input: Record<string, unknown>) => ({ toolCalls: [{ name, arguments: input }] });
const steps = [
  call("write_file", { path: "tests/a.spec.ts", content: SPEC }),
  call("run_tests", {}),
  call("wait_for_test_results", {}),
  { text: "Tested." },
];

let model: ScriptedModel;
test.beforeAll(async () => {
  model = await startScriptedModel({ script: { rules: [{ when: "[test]", steps }] } });
});
test.afterAll(() => model.close());

const start = (fault: string | undefined, before?: RunningService) =>
  startService(
    { OPENAI_BASE_URL: model.baseUrl, ...(fault && { FAULT: fault, FAULTS_ALLOWED: "1" }) },
    before && { dataDir: before.dataDir, port: before.port },
  );

/** Waits until the service was killed. @returns its descendant processes that were listed before the kill. */
async function waitUntilDown(service: RunningService): Promise<ProcessId[]> {
  const seen: ProcessId[] = [];
  const isUp = () =>
    service.call("GET", "/api/health").then(
      () => true,
      () => false,
    );
  await expect
    .poll(
      async () => {
        seen.push(...listDescendants(service.pid ?? 0));
        return isUp();
      },
      { timeout: 60_000, intervals: [50] },
    )
    .toBe(false);
  return seen;
}

type Runs = { data: { id: string; status: string; problem: string | null; counts: { passed: number } }[] };

/** Waits until the turn has ended. @returns the session's only test run. */
async function readEnd(service: RunningService, created: { sessionId: string; statusUrl: string }) {
  await service.completed(created.statusUrl);
  const events = await readLog(service, created.sessionId, haveEnded(1));
  const ends = events.filter(({ kind }) => kind === "tests.completed");
  expect(ends).toHaveLength(1);
  const { data } = await service.read<Runs>(`/api/sessions/${created.sessionId}/tests`);
  expect(data).toHaveLength(1);
  return data[0];
}

for (const [title, fault] of [
  ["after the service stored a test run", "tests-stored:1:kill9"],
  ["while the tests run", "tests-running:1:kill9@2500"],
  ["before the service stores the results", "tests-read:1:kill9"],
] as const)
  test(`the tests run again after a kill ${title}, and the waiting turn continues`, async () => {
    const first = await start(fault);
    const created = await first.create("[test] the page");
    const processes = await waitUntilDown(first);
    const second = await start(undefined, first);
    const run = await readEnd(second, created);
    expect(listAlive(processes)).toEqual([]);
    expect([run?.status, run?.counts.passed]).toEqual(["passed", 2]);
    await second.close();
  });

test("a test run that is killed twice ends as interrupted, and the waiting turn continues", async () => {
  const fault = "tests-running:1:kill9@2500";
  const first = await start(fault);
  const created = await first.create("[test] the page");
  const processes = await waitUntilDown(first);
  const second = await start(fault, first);
  processes.push(...(await waitUntilDown(second)));
  const third = await start(undefined, second);
  const run = await readEnd(third, created);
  expect(listAlive(processes)).toEqual([]);
  expect([run?.status, run?.problem]).toEqual([
    "interrupted",
    "The service could not finish the tests in two attempts.",
  ]);
  await third.close();
});
