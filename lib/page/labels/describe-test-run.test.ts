import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AT, testRun } from "../state/testing.ts";
import type { ToolCallView } from "../state/view-types.ts";
import {
  classifyAttachment,
  describeCounts,
  describeEnd,
  describeProgress,
  describeTestTargets,
  findTestRunOfCall,
} from "./describe-test-run.ts";
import { describeTool } from "./describe-tool.ts";

const ID = "tst_m3xq7zkwd2ntvcyh5rpbjg4a";
const counts = { total: 44, passed: 9, failed: 1, flaky: 0, skipped: 2 };

describe("the words of test runs", () => {
  it("results are counted, problems first; an ended run also counts tests that did not run", () => {
    assert.equal(describeCounts(testRun(1, { counts })), "1 failed, 2 skipped, 9 passed");
    assert.equal(
      describeCounts(testRun(1, { counts, endedAt: AT })),
      "1 failed, 2 skipped, 9 passed, 32 did not run",
    );
    assert.equal(describeCounts(testRun(1)), "");
    assert.equal(describeCounts(testRun(1, { endedAt: AT })), "no test ran");
  });

  it("there is no progress before the tests are counted", () => {
    assert.equal(describeProgress(testRun(1, { counts })), "12 of 44");
    assert.equal(describeProgress(testRun(1)), null);
  });

  it("a run says what it tests", () => {
    assert.equal(describeTestTargets(testRun(1)), "Control and variant main");
    assert.equal(
      describeTestTargets(testRun(1, { against: ["variant"], revision: 3 })),
      "Variant main, revision 3",
    );
    assert.equal(describeTestTargets(testRun(1, { against: ["control"], variant: null })), "Control");
  });

  it("the end of a run is one sentence", () => {
    const end = (status: "passed" | "cancelled") => describeEnd(testRun(2, { status, counts, endedAt: AT }));
    assert.equal(end("passed"), "Test run 2 passed: 1 failed, 2 skipped, 9 passed, 32 did not run.");
    assert.match(end("cancelled"), /^Test run 2 was cancelled: /);
  });

  it("a file is a picture, a trace, another file, or missing", () => {
    const file = {
      name: "trace",
      mediaType: "application/zip",
      sizeBytes: 1,
      evidenceId: "evi_a",
      problem: null,
    };
    assert.equal(classifyAttachment(file), "trace");
    assert.equal(classifyAttachment({ ...file, name: "data" }), "file");
    assert.equal(classifyAttachment({ ...file, mediaType: "image/png" }), "picture");
    assert.equal(classifyAttachment({ ...file, mediaType: "image/svg+xml" }), "file");
    assert.equal(classifyAttachment({ ...file, evidenceId: null }), "missing");
  });
});

describe("the calls that run tests", () => {
  const preview = JSON.stringify({ testRunId: ID, number: 2, status: "queued" });
  const call: ToolCallView = {
    toolCallId: "call_1",
    toolName: "run_tests",
    refusal: null,
    interruptedBy: null,
    isStopped: false,
    actions: [],
    runId: "run_1",
    state: "succeeded",
    preview,
    resultId: null,
    evidence: [],
    startedAt: AT,
    durationMs: 1,
  };

  it("a call that started a run links to it, and no other call does", () => {
    assert.equal(findTestRunOfCall(call), ID);
    assert.equal(findTestRunOfCall({ ...call, preview: JSON.stringify(JSON.parse(preview), null, 2) }), ID);
    assert.equal(findTestRunOfCall({ ...call, state: "failed" }), null);
    assert.equal(findTestRunOfCall({ ...call, toolName: "run_shell" }), null);
    assert.equal(findTestRunOfCall({ ...call, preview: `said: ${preview}` }), null);
    assert.equal(findTestRunOfCall(undefined), null);
  });

  it("a call that starts a run names the run and its files", () => {
    const words = (input: unknown, result = "") => {
      const { running, done, object } = describeTool("run_tests", input, result);
      return [running, done, object];
    };
    assert.deepEqual(words({ files: ["tests/a.spec.ts", "tests/b.spec.ts"] }, preview), [
      "Starting the tests",
      "Started test run 2",
      "tests/a.spec.ts, tests/b.spec.ts",
    ]);
    assert.deepEqual(words({ grep: "pays" }), ["Starting the tests", "Started the tests", "pays"]);
    assert.deepEqual(words({})[2], null);
  });

  it("a call that waits for results shows their counts", () => {
    const text = (line: string) =>
      `What stands between.\n<data-0a1b>\n${line}\nfailed: a test of 3 passed.\n</data-0a1b>`;
    const object = (line: string) => describeTool("wait_for_test_results", {}, text(line)).object;
    assert.equal(object(`Test run ${ID}: passed. 12 passed.`), "12 passed");
    assert.equal(
      object(`Test run ${ID}: cancelled, revision 3 of variant main. 1 passed, 1 failed of 4.`),
      "1 passed, 1 failed",
    );
    assert.equal(object(`Test run ${ID}: failed. No test ran.`), null);
    assert.equal(describeTool("wait_for_test_results", {}, "").running, "Waiting for test results");
  });
});
