import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { mergeTestRun } from "./apply-test-run.ts";
import { newsOf } from "./drawer-tabs.ts";
import type { SessionState } from "./session-state.ts";
import { AT, event, started, testRun } from "./testing.ts";

const counts = { total: 4, passed: 1, failed: 1, flaky: 0, skipped: 0 };
const begin = event(5, { kind: "tests.started", testRun: testRun(1) });
const progress = event(6, { kind: "tests.progress", testRunId: "tst_1", counts });
const failed = testRun(1, { status: "failed", counts, startedAt: AT, endedAt: AT });
const end = event(7, { kind: "tests.completed", testRun: failed });

const apply = (...events: ReturnType<typeof event>[]): SessionState => events.reduce(applyEvent, started);

test("a test run starts, counts its results and ends", () => {
  assert.deepEqual(apply(begin).testRuns, [testRun(1)]);
  assert.deepEqual(apply(begin, progress).testRuns, [
    testRun(1, { status: "running", startedAt: AT, counts }),
  ]);
  assert.deepEqual(apply(begin, progress, end).testRuns, [failed]);
});

test("the newest test run is first, and progress changes only its own run", () => {
  const second = event(8, { kind: "tests.started", testRun: testRun(2) });
  const more = event(9, { kind: "tests.progress", testRunId: "tst_2", counts });
  assert.deepEqual(
    apply(begin, progress, end, second, more).testRuns.map(({ number, status }) => [number, status]),
    [
      [2, "running"],
      [1, "failed"],
    ],
  );
});

test("progress of an unknown or ended test run changes nothing", () => {
  assert.deepEqual(apply(progress).testRuns, []);
  const late = event(8, { kind: "tests.progress", testRunId: "tst_1", counts: { ...counts, passed: 2 } });
  assert.deepEqual(apply(begin, end, late).testRuns, [failed]);
});

test("an answer that is older than the end of its test run is dropped", () => {
  assert.deepEqual(mergeTestRun([failed], testRun(1)), [failed]);
  assert.deepEqual(mergeTestRun([failed], { ...failed, revision: 2 }), [{ ...failed, revision: 2 }]);
});

test("the end of a test run is news, its progress is not", () => {
  assert.equal(newsOf(apply(begin, progress)).tests, 0);
  assert.equal(newsOf(apply(begin, progress, end)).tests, 1);
});
