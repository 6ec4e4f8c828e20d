import assert from "node:assert/strict";
import { after, before } from "node:test";
import { playTurn } from "../variants/variants-testing.ts";
import {
  itRuns,
  listRuns,
  openTestRunsService,
  readRun,
  runAndWait,
  writeSuite,
} from "./test-runs-testing.ts";

let fixture: Awaited<ReturnType<typeof openTestRunsService>>;
before(async () => {
  fixture = await openTestRunsService();
});
after(() => fixture.close());

itRuns(
  "tests as in Playwright's documentation run unchanged, and pass, fail, are flaky or are skipped",
  async () => {
    const { service, shop } = fixture;
    const steps = [...(await writeSuite()), ...runAndWait({ retries: 1, baseUrl: shop.url })];
    const { session } = await playTurn(service, steps);
    const [run] = await listRuns(service, session.sessionId);
    const { results, counts, status, problem } = await readRun(service, session.sessionId, run?.id ?? "");
    const unwell = results.filter((result) => !["passed", "skipped"].includes(result.status));
    assert.deepEqual(
      unwell.map((result) => [result.titles.join(" › "), result.status, result.attempts]),
      [
        ["fails with a picture and a trace", "failed", 2],
        ["passes in its second attempt", "flaky", 2],
      ],
      JSON.stringify([problem, unwell], null, 1),
    );
    assert.deepEqual([status, problem], ["failed", null]);
    assert.deepEqual(counts, {
      total: results.length,
      passed: results.length - 5,
      failed: 1,
      flaky: 1,
      skipped: 3,
    });
  },
);
