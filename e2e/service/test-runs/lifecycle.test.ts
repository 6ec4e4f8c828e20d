import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { listDescendants } from "#e2e/crash/processes.ts";
import { OTHER_KEY, waitUntil } from "../testing.ts";
import { readEvents, readStatus } from "../turn/turn-testing.ts";
import { actOnPage, playTurn, readOffered, scriptTurn, step } from "../variants/variants-testing.ts";
import {
  itRuns,
  listRuns,
  openTestRunsService,
  readRun,
  runAndWait,
  untilEnded,
  write,
} from "./test-runs-testing.ts";

let fixture: Awaited<ReturnType<typeof openTestRunsService>>;
before(async () => {
  fixture = await openTestRunsService({ BROWSER_MAX_LIVE: "1" });
});
after(() => fixture.close());

const QUICK = `import { expect, test } from "@playwright/test";
test("quick", async ({ page }) => {
  await page.goto("/demo/index.html");
  await expect(page.locator("h1")).toContainText("quiet");
});`;
const SLOW = `import { test } from "@playwright/test";
test("first", async () => {});
test("slow", async () => { test.setTimeout(120_000); await new Promise((done) => setTimeout(done, 100_000)); });`;

/** Lists the sandbox processes below this process. */
const listSandboxes = () => listDescendants(process.pid).filter(({ name }) => name === "bwrap");

const started: string[] = [];
afterEach(async () => {
  // Ends all runs, because a run that continues would block the only browser place for the next test.
  for (const id of started.splice(0)) await fixture.service.call("DELETE", `/api/sessions/${id}`);
});

type Session = Awaited<ReturnType<typeof fixture.service.create>>;

/** Starts a session with a long test run. Waits until the first test has ended and the turn waits for the run. */
async function startSlow(): Promise<{ session: Session; id: string }> {
  const { service, shop } = fixture;
  const marker = `slow ${crypto.randomUUID()}`;
  scriptTurn(service, marker, [write("tests/slow.spec.ts", SLOW), ...runAndWait({ baseUrl: shop.url })]);
  const session = await service.create(marker);
  started.push(session.sessionId);
  await waitUntil(
    async () => (await listRuns(service, session.sessionId))[0]?.counts.passed === 1,
    "the first test has ended",
  );
  await waitUntil(
    async () => (await readStatus(service, session.sessionId)).waitingOn?.kind === "tests",
    "the turn waits",
  );
  const [run] = await listRuns(service, session.sessionId);
  return { session, id: run?.id ?? "" };
}

describe("a test run", () => {
  itRuns("has events from its start to its end, and parks the turn that waits for it", async () => {
    const { service } = fixture;
    const { session, id } = await startSlow();
    const { waitingOn, turnState } = await readStatus(service, session.sessionId);
    assert.deepEqual([turnState, waitingOn?.ids, waitingOn?.until], ["running", [id], null]);
    const cancelled = await actOnPage(service, session, `/tests/${id}/cancel`, undefined);
    assert.equal(cancelled.status, 200);
    const ended = await untilEnded(service, session.sessionId);
    assert.deepEqual(
      [ended.status, ended.problem, ended.results.map(({ status }) => status)],
      ["cancelled", "The test run was cancelled.", ["passed", "failed"]],
    );
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const relevant = events.filter(
      ({ kind }) => kind.startsWith("tests.") || /^turn\.(waiting|resumed)$/.test(kind),
    );
    // Progress events may come before and after `turn.waiting`. Therefore, the events are compared twice: once without
    // the turn events, and once without the progress events.
    const kinds = relevant.map(({ kind }) => kind);
    const kindsWithout = (prefix: string) =>
      kinds.filter((kind) => !kind.startsWith(prefix)).filter((kind, at, all) => kind !== all[at - 1]);
    assert.deepEqual(kindsWithout("turn."), ["tests.started", "tests.progress", "tests.completed"]);
    assert.deepEqual(
      kinds.filter((kind) => kind !== "tests.progress"),
      ["tests.started", "turn.waiting", "tests.completed", "turn.resumed"],
    );
    const last = relevant.find((event) => event.kind === "tests.completed");
    const { results: _, sessionId: __, ...shown } = ended;
    assert.deepEqual(last?.testRun, shown);
    assert.equal((await actOnPage(service, session, `/tests/${id}/cancel`, undefined)).status, 409);
  });

  itRuns("continues when a message interrupts the turn's wait", async () => {
    const { service } = fixture;
    const { session } = await startSlow();
    const steered = await actOnPage(service, session, "/messages", { text: "How far?", mode: "steer" });
    assert.equal(steered.status, 202, await steered.clone().text());
    await service.completed(session.statusUrl);
    const answers = (await readEvents(service, session.sessionId)).filter(
      ({ kind }) => kind === "tool.result",
    );
    assert.match(
      JSON.stringify(answers.at(-1)),
      /is running: 1 of 2 tests have ended\. The wait was interrupted by a message\./,
    );
    const [run] = await listRuns(service, session.sessionId);
    assert.equal(run?.endedAt, null);
  });

  itRuns("ends with all its processes when its turn is stopped", async () => {
    const { service } = fixture;
    const { session } = await startSlow();
    const stopped = await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    assert.ok(stopped.ok, await stopped.text());
    const ended = await untilEnded(service, session.sessionId);
    assert.equal(ended.status, "cancelled");
    assert.deepEqual(listSandboxes(), []);
  });

  itRuns("ends with all its processes when its session is deleted", async () => {
    const { service } = fixture;
    const { session } = await startSlow();
    const removed = await service.call("DELETE", `/api/sessions/${session.sessionId}`);
    assert.equal(removed.status, 200);
    await waitUntil(() => listSandboxes().length === 0, "the runner has ended");
  });

  itRuns("is the only one of its session at a time, and can be run again by a person", async () => {
    const { service, shop } = fixture;
    const { session, results } = await playTurn(service, [
      write("tests/quick.spec.ts", QUICK),
      write("tests/other.spec.ts", SLOW),
      step("run_tests", { baseUrl: shop.url, files: ["tests/quick.spec.ts"] }),
      step("run_tests", { baseUrl: shop.url }),
      step("wait_for_test_results"),
    ]);
    assert.match(
      results[3] ?? "",
      /^Error: run_tests: test run tst_\w+ has not ended\. Call wait_for_test_results with tst_\w+ first\.$/,
    );
    const [first] = await listRuns(service, session.sessionId);
    const {
      status,
      results: [result],
    } = await readRun(service, session.sessionId, first?.id ?? "");
    assert.deepEqual([status, result?.status], ["passed", "passed"]);
    assert.match(result?.steps[0]?.title ?? "", /^Navigate .*\/demo\/index\.html$/);
    const again = await actOnPage(service, session, `/tests/${first?.id}/rerun`, undefined);
    const { testRun } = (await again.json()) as { testRun: { number: number; startedBy: string } };
    assert.deepEqual([again.status, testRun.number, testRun.startedBy], [201, 2, "person"]);
    const busy = await actOnPage(service, session, `/tests/${first?.id}/rerun`, undefined);
    assert.equal(busy.status, 409);
    assert.equal((await untilEnded(service, session.sessionId)).status, "passed");
    const keyed = await service.call("GET", `/api/sessions/${session.sessionId}/tests`, undefined, {
      authorization: `Bearer ${OTHER_KEY}`,
    });
    assert.equal(keyed.status, 404);
    assert.equal(
      (await service.call("GET", `/api/sessions/${session.sessionId}/tests/tst_none`)).status,
      404,
    );
  });

  itRuns("waits for a browser place, and gets that of a session that does not use its browser", async () => {
    const { service, shop } = fixture;
    const { session, results } = await playTurn(
      service,
      [
        step("dom_query", {}),
        write("tests/quick.spec.ts", QUICK),
        ...runAndWait({ baseUrl: shop.url }),
        step("dom_query", {}),
      ],
      { targetUrl: `${shop.url}/demo/index.html` },
    );
    const [run] = await listRuns(service, session.sessionId);
    assert.equal(run?.status, "passed", JSON.stringify(run));
    assert.match(results.at(-1) ?? "", /Things for a quiet desk/);
  });
});

describe("the tools for test runs", () => {
  it("are absent without a sandbox or if a structured session does not include them, and require a browser", async () => {
    const { service } = fixture;
    await playTurn(service, [], { capabilities: { sandbox: false } });
    assert.ok(!readOffered(service).includes("run_tests"));
    const outputSchema = {
      type: "object",
      properties: { title: { type: "string" } },
      required: ["title"],
      additionalProperties: false,
    };
    await playTurn(service, [], { outputSchema });
    assert.ok(!readOffered(service).some((name) => /test/.test(name)));
    await playTurn(service, [], { outputSchema, tools: { include: ["run_tests", "wait_for_test_results"] } });
    assert.ok(["run_tests", "wait_for_test_results"].every((name) => readOffered(service).includes(name)));
    const { results } = await playTurn(service, runAndWait(), { capabilities: { browser: false } });
    assert.deepEqual(results, [
      "Error: run_tests: this session has no browser (capabilities.browser is false).",
      "Error: wait_for_test_results: the session has no test run. Start one with run_tests.",
    ]);
    const wrong = await playTurn(service, [
      step("run_tests", { grep: "(", baseUrl: "file:///x", retries: 9 }),
    ]);
    assert.match(wrong.results[0] ?? "", /baseUrl: must be an http\(s\) URL/);
    assert.match(wrong.results[0] ?? "", /grep: must be a regular expression/);
  });
});
