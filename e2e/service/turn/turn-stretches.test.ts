import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { like } from "drizzle-orm";
import { engineSteps, outbox, runs } from "#db/schema/index.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

// With this budget, each `play-<n>` step of the engine plays only one step of a turn.
before(async () => {
  service = await openTestService({ TURN_BUDGET_MS: "1", SANDBOX: "unconfined" });
});
after(() => service.close());

const schema = { type: "object", properties: { price: { type: "number" } }, required: ["price"] };
const shell = (command: string) => ({ name: "run_shell", arguments: { command } });
const countPlays = async () =>
  (await service.container.services.db.select().from(engineSteps).where(like(engineSteps.name, "play-%")))
    .length;

describe("a turn that is played in many function calls", () => {
  it("plays each step once, with the whole history and the summed usage", async () => {
    const steps = 6;
    let calls = 0;
    service.model.respondWith(() =>
      calls++ < steps
        ? { text: `Step ${calls}.`, toolCalls: [shell(`echo ${calls} >> steps.txt; wc -l < steps.txt`)] }
        : { text: "Done." },
    );
    const plays = await countPlays();
    const session = await service.create("Count the steps");
    await service.completed(session.statusUrl);
    assert.ok((await countPlays()) - plays >= steps, "the turn was paused between its steps");
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "tool.result").map(({ preview }) => preview.split("\n")[0]),
      ["1", "2", "3", "4", "5", "6"],
    );
    const [end] = only(events, "run.completed");
    assert.deepEqual(
      [end?.outcome, end?.usage.modelCalls, end?.usage.toolCalls, only(events, "run.started").length],
      ["succeeded", steps + 1, steps, 1],
    );
    assert.equal(service.model.requests.at(-1)?.toolResults.length, steps);
    const [run] = await service.container.services.db.select().from(runs).where(like(runs.id, session.runId));
    assert.ok((run?.epoch ?? 0) > steps, "each play claimed the run");
  });

  it("has one probe and one structured call", async () => {
    let calls = 0;
    service.model.respondWith(({ kind }) =>
      kind !== "turn"
        ? { json: { price: 3 } }
        : calls++ < 3
          ? { toolCalls: [shell("true")] }
          : { text: "Found it." },
    );
    const requestCount = service.model.requests.length;
    const session = await service.create("What is the price?", { outputSchema: schema });
    await service.completed(session.statusUrl);
    assert.deepEqual(
      service.model.requests.slice(requestCount).map(({ kind }) => kind),
      ["probe", "turn", "turn", "turn", "turn", "structured"],
    );
    assert.deepEqual((await readStatus(service, session.sessionId)).deliverable, {
      runId: session.runId,
      status: "ready",
      value: { price: 3 },
    });
  });

  it("reads a steer that arrives between two plays", async () => {
    let calls = 0;
    service.model.respondWith(({ text }) =>
      calls++ < 4
        ? { toolCalls: [shell("sleep 0.2")] }
        : { text: text.includes("in blue") ? "Blue." : "Grey." },
    );
    const session = await service.create("Paint it");
    await waitUntil(() => calls > 1, "the turn plays");
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      text: "in blue",
      mode: "steer",
    });
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "turn.steered").length, 1);
    assert.match(JSON.stringify(only(events, "message.completed").at(-1)), /Blue/);
  });
});

describe("handing over a turn", () => {
  it("requests one new function run, also if it is called twice", async () => {
    service.model.respondWith(() => ({ text: "Held.", hold: new Promise(() => {}) }));
    const { runId, sessionId } = await service.create("hand over");
    await waitUntil(
      async () => (await readStatus(service, sessionId)).activeRunId === runId,
      "the turn plays",
    );
    const { turn, db } = service.container.services;
    await turn.handOver(runId, 1);
    await turn.handOver(runId, 1);
    const jobs = await db
      .select({ id: outbox.id })
      .from(outbox)
      .where(like(outbox.id, `${runId}:%`));
    assert.deepEqual(jobs.map(({ id }) => id).toSorted(), [`${runId}:1`, `${runId}:2`]);
    await turn.stopRun(runId);
  });
});
