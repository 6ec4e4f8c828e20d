import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import { openTestService, type TestService } from "../testing.ts";
import { playFollowUp, playTurn, readOffered, step } from "../variants/variants-testing.ts";
import { publish, REPORT } from "./reports-testing.ts";

const NAME = "publish_qa_report";
const outputSchema = { type: "object", properties: { title: { type: "string" } } };

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Plays the first turn of a session. @returns whether the model was offered the tool that publishes reports. */
async function isOffered(profile: Record<string, unknown>): Promise<boolean> {
  await playTurn(service, [], profile);
  return readOffered(service).includes(NAME);
}

describe("publish_qa_report", () => {
  it("is in editing sessions, also without browser and sandbox, and in structured ones only if included", async () => {
    assert.equal(await isOffered({}), true);
    assert.equal(await isOffered({ capabilities: { browser: false, sandbox: false } }), true);
    assert.equal(await isOffered({ outputSchema }), false);
    assert.equal(await isOffered({ outputSchema, tools: { include: [NAME] } }), true);
  });

  it("is removed by exclude, also if included, and from external turns by externalTurnExclude", async () => {
    assert.equal(await isOffered({ tools: { exclude: [NAME] } }), false);
    assert.equal(await isOffered({ outputSchema, tools: { include: [NAME], exclude: [NAME] } }), false);
    assert.equal(await isOffered({ tools: { externalTurnExclude: [NAME] } }), false);
  });

  it("publishes reports in addition to the deliverable of a structured session", async () => {
    const { session, results } = await playTurn(service, [publish(REPORT)], {
      outputSchema,
      tools: { include: [NAME] },
    });
    assert.match(results[0] ?? "", /^Published report rep_/);
    const status = await service.read<{ deliverable: { status: string }; reports: { title: string }[] }>(
      `/api/sessions/${session.sessionId}/agent/status`,
    );
    assert.equal(status.deliverable.status, "ready");
    assert.deepEqual(
      status.reports.map(({ title }) => title),
      [REPORT.title],
    );
  });

  it("publishes nothing if the model calls it without being offered it", async () => {
    const { session, results } = await playTurn(service, [publish(REPORT)], { outputSchema });
    assert.doesNotMatch(results[0] ?? "", /Published/);
    const { data } = await service.read<{ data: unknown[] }>(`/api/sessions/${session.sessionId}/reports`);
    assert.deepEqual(data, []);
    await playFollowUp(service, session.sessionId, []);
  });

  it("is not among the tools of a sub-agent", async () => {
    await playTurn(service, [step("spawn_agents", { agents: [{ objective: "look" }] })], { subAgents: true });
    const ofChild = service.model.requests.findLast(({ text }) => text.includes("You are a sub-agent"));
    const names = readOfferedTools(ofChild);
    assert.ok(names.includes("submit_result"));
    assert.ok(!names.includes(NAME));
  });
});
