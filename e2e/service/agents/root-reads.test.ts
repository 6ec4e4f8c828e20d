import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { deployFiles } from "../pages/pages-testing.ts";
import { exportSession, imported } from "../porting/porting-testing.ts";
import { storeReport } from "../reports/reports-testing.ts";
import { storeTestRun } from "../test-runs/store-test-run.ts";
import { openTestService, type TestService } from "../testing.ts";
import { playTurn, step, storeVariant } from "../variants/variants-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

it("lists and objects of a sub-agent are those of its root", async () => {
  const { session } = await playTurn(service, [step("spawn_agents", { agents: [{ objective: "look" }] })], {
    subAgents: true,
  });
  const root = `/api/sessions/${session.sessionId}`;
  const { agents } = await service.read<{ agents: { agentId: string }[] }>(`${root}/agents`);
  const child = `/api/sessions/${agents[0]?.agentId}`;
  await storeVariant(service, session.sessionId);
  await service.call("POST", `${root}/plan/edits`, { edits: [{ action: "add", text: "Look" }] });
  await service.call("POST", `${root}/requirements`, { requirements: [{ text: "The page loads" }] });
  await deployFiles(service, { "index.html": "<h1>Sale</h1>" }, {}, session);
  const reportId = await storeReport(service, session.sessionId);
  const testRunId = await storeTestRun(service, session.sessionId);
  const other = await playTurn(service, []);
  const document = await exportSession(service, other.session.sessionId);
  const { import: importSummary } = await imported(service, session.sessionId, document);
  for (const list of ["variants", "requirements", "pages", "reports", "imports", "skills", "tests"]) {
    const { data } = await service.read<{ data: unknown[] }>(`${root}/${list}`);
    assert.ok(data.length > 0, list);
    assert.deepEqual((await service.read<{ data: unknown[] }>(`${child}/${list}`)).data, data, list);
  }
  for (const single of [
    "plan",
    "variants/main/revisions/1",
    "variants/main/releases",
    "previews",
    `reports/${reportId}`,
    `tests/${testRunId}`,
    `imports/${importSummary.id}`,
  ]) {
    const answer = await service.call("GET", `${child}/${single}`);
    assert.equal(answer.status, 200, single);
    assert.deepEqual(await answer.json(), await service.read(`${root}/${single}`), single);
  }
});
