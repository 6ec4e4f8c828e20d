import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestResultsCache } from "./test-results-cache.ts";
import { createTestRunActions } from "./test-run-actions.ts";

/**
 * Creates actions that call a fake service. The service returns these answers one after the other and records the
 * requests.
 */
function open(...answers: Response[]) {
  const requests: string[] = [];
  const paths = { tests: "/api/sessions/ses_a/tests", actions: "/s/ses_a/actions" };
  const actions = createTestRunActions(paths, async (path, init) => {
    requests.push(`${init?.method} ${path}`);
    return answers.shift() ?? Response.error();
  });
  return { requests, actions };
}

test("a run is read, started again and cancelled", async () => {
  const testRun = { id: "tst_b" };
  const error = "test run tst_b has not ended";
  const { actions, requests } = open(
    Response.json({ success: true, testRun: { results: [] } }),
    Response.json({ success: true, testRun }, { status: 201 }),
    Response.json({ success: true, testRun }),
    Response.json({ success: false, error }, { status: 409 }),
  );
  const read = await actions.readTestRun("tst_a");
  assert.ok(read.isDone && read.answer.results.length === 0);
  assert.deepEqual(await actions.rerunTests("tst_a"), { isDone: true, answer: testRun });
  assert.deepEqual(await actions.cancelTests("tst_b"), { isDone: true, answer: testRun });
  assert.deepEqual(await actions.rerunTests("tst_a"), { isDone: false, status: 409, error });
  assert.deepEqual(requests, [
    "GET /api/sessions/ses_a/tests/tst_a",
    "POST /s/ses_a/actions/tests/tst_a/rerun",
    "POST /s/ses_a/actions/tests/tst_b/cancel",
    "POST /s/ses_a/actions/tests/tst_a/rerun",
  ]);
});

test("results are read once, also by simultaneous readers, and again after a failure", async () => {
  const { actions, requests } = open(
    Response.json({ success: false, error: "busy" }, { status: 503 }),
    Response.json({ success: true, testRun: { results: [{ titles: ["pays"] }] } }),
  );
  const cache = createTestResultsCache(actions.readTestRun);
  const failed = await cache.read("tst_a");
  assert.deepEqual([failed.isDone, cache.peek("tst_a")], [false, undefined]);
  const [one, other] = await Promise.all([cache.read("tst_a"), cache.read("tst_a")]);
  assert.deepEqual([one, await cache.read("tst_a")], [other, other]);
  assert.deepEqual(cache.peek("tst_a"), [{ titles: ["pays"] }]);
  assert.equal(requests.length, 2);
});
