import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";
import { delegating } from "./tree-testing.ts";

const UNAVAILABLE: Step = { status: 503, message: "overloaded" };
const list = { name: "list_agents", arguments: {} };

/** Reads the outcomes of a session's runs, in order. */
const readOutcomes = async (service: TestService, sessionId: string) =>
  only(await readEvents(service, sessionId), "run.completed").map(({ outcome }) => outcome);

/** Scripts the model. `failing` contains the numbers (from 1) of the root's model calls that fail. */
function failCalls(
  service: TestService,
  marker: string,
  failing: number[],
  steps: Step[],
  childSteps: Step[],
) {
  let call = 0;
  service.model.respondWith(({ userText, answersSoFar }) => {
    if (!userText.includes(marker)) return childSteps[answersSoFar] ?? { text: "Done." };
    call += 1;
    return failing.includes(call) ? UNAVAILABLE : (steps[answersSoFar] ?? { text: "Done." });
  });
}

describe("a parent whose model call fails", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService();
  });
  after(() => service.close());

  it("keeps its live child for the retry, without a second spawn and without cancelling it", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    failCalls(
      service,
      "lead retry",
      [2, 3],
      [{ toolCalls: [spawn({ name: "worker", objective: "work on" })] }, { toolCalls: [wait()] }],
      [{ hold: go, holdAt: "start", toolCalls: [submit("worked")] }],
    );
    const session = await service.create("lead retry", delegating);
    await waitUntil(
      async () => only(await readEvents(service, session.sessionId), "turn.waiting").length === 1,
      "the second retry waits for the child",
    );
    const [working, ...others] = await readAgents(service, session.sessionId);
    assert.deepEqual([working?.outcome, others], [null, []]);
    resolve();
    await service.completed(session.statusUrl);
    assert.deepEqual(await readOutcomes(service, session.sessionId), ["errored", "errored", "succeeded"]);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual(await readOutcomes(service, agent?.sessionId ?? ""), ["succeeded"]);
    const [report] = JSON.parse(readResult(service, "lead retry", 1)) as Record<string, unknown>[];
    assert.deepEqual([report?.agentId, report?.result], [agent?.sessionId, "worked"]);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "agent.spawned").length, 1);
    assert.deepEqual(
      only(events, "agent.settled").map(({ status }) => status),
      ["succeeded"],
    );
    const delegated = only(events, "run.completed").flatMap(({ usage }) => usage.delegated ?? []);
    assert.deepEqual(
      delegated.map(({ modelCalls }) => modelCalls),
      [1],
      "the child's usage is reported once",
    );
  });

  it("reads in the retry the result that its child submitted between the runs", async () => {
    const { promise: hasEnded, resolve } = Promise.withResolvers<void>();
    let call = 0;
    service.model.respondWith(({ userText }) => {
      if (userText.includes("be quick")) return { toolCalls: [submit("recorded")] };
      call += 1;
      if (call === 1) return { toolCalls: [spawn({ objective: "be quick" })] };
      if (call === 2) return { ...UNAVAILABLE, hold: hasEnded, holdAt: "headers" };
      return call === 3 ? { toolCalls: [wait()] } : { text: "Done." };
    });
    const session = await service.create("lead backoff", delegating);
    const root = session.sessionId;
    await waitUntil(
      async () => (await readAgents(service, root))[0]?.outcome === "succeeded",
      "the child has ended",
    );
    resolve();
    await service.completed(session.statusUrl);
    assert.deepEqual(await readOutcomes(service, root), ["errored", "succeeded"]);
    const [report] = JSON.parse(readResult(service, "lead backoff", 1)) as Record<string, unknown>[];
    assert.deepEqual([report?.status, report?.result], ["succeeded", "recorded"]);
    assert.equal((await readAgents(service, root)).length, 1);
    const kinds = (await readEvents(service, root)).map(({ kind }) => kind);
    assert.ok(!kinds.includes("turn.waiting"), "the turn was not parked");
  });

  it("is shown a result only once, also if its retry follows the wait", async () => {
    failCalls(
      service,
      "lead told",
      [3],
      [{ toolCalls: [spawn({ objective: "be quick" })] }, { toolCalls: [wait()] }, { text: "I know it." }],
      [{ toolCalls: [submit("only once")] }],
    );
    const session = await service.create("lead told", delegating);
    await service.completed(session.statusUrl);
    assert.deepEqual(await readOutcomes(service, session.sessionId), ["errored", "succeeded"]);
    const last = service.model.requests.findLast(({ userText }) => userText.includes("lead told"));
    assert.equal(last?.text.match(/only once/g)?.length, 1);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(only(events, "message.completed").at(-1)?.message.parts, [
      { type: "text", text: "I know it." },
    ]);
  });

  it("cancels all its live descendants if no retry follows", async () => {
    const { promise: never, resolve } = Promise.withResolvers<void>();
    const { promise: isDeep, resolve: noteDeep } = Promise.withResolvers<void>();
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("go deeper"))
        return { toolCalls: [answersSoFar === 0 ? spawn({ objective: "stay below" }) : wait()] };
      if (userText.includes("stay below")) {
        noteDeep();
        return { hold: never, holdAt: "start", text: "never" };
      }
      if (answersSoFar === 0) return { toolCalls: [spawn({ objective: "go deeper" })] };
      return { status: 400, message: "refused for good", hold: isDeep, holdAt: "headers" };
    });
    const session = await service.create("lead broken", delegating);
    await service.completed(session.statusUrl);
    assert.deepEqual(await readOutcomes(service, session.sessionId), ["errored"]);
    const agents = await readAgents(service, session.sessionId);
    assert.deepEqual(
      agents.map(({ depth, outcome }) => [depth, outcome]),
      [
        [1, "cancelled"],
        [2, "cancelled"],
      ],
    );
    const order = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
    assert.ok(order.indexOf("agent.settled") < order.indexOf("run.completed"));
    resolve();
  });
});

describe("a stop while a run waits for its retry", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService({ AGENT_RETRY_BASE_MS: "600000" });
  });
  after(() => service.close());

  const stop = async ({ sessionId, statusUrl }: { sessionId: string; statusUrl: string }) => {
    await service.call("POST", `/api/sessions/${sessionId}/agent/cancel`);
    await service.completed(statusUrl);
  };

  it("cancels the live children of a parent that waits for its retry", async () => {
    const { promise: never, resolve } = Promise.withResolvers<void>();
    failCalls(
      service,
      "lead stopped",
      [2],
      [{ toolCalls: [spawn({ objective: "work on" })] }],
      [{ hold: never, holdAt: "start", text: "never" }],
    );
    const session = await service.create("lead stopped", delegating);
    await waitUntil(
      async () => (await readOutcomes(service, session.sessionId)).length === 1,
      "the run has failed",
    );
    assert.equal((await readAgents(service, session.sessionId))[0]?.outcome, null, "the child is still live");
    await stop(session);
    const [agent] = await readAgents(service, session.sessionId);
    assert.equal(agent?.outcome, "cancelled");
    assert.deepEqual(await readOutcomes(service, session.sessionId), ["errored", "cancelled"]);
    resolve();
  });

  it("cancels a child that waits for its retry", async () => {
    scriptByTask(service, {
      "lead stopping": [{ toolCalls: [spawn({ objective: "fail at first" })] }, { toolCalls: [wait()] }],
      "fail at first": [UNAVAILABLE],
    });
    const session = await service.create("lead stopping", delegating);
    let childId = "";
    await waitUntil(async () => {
      childId = (await readAgents(service, session.sessionId))[0]?.sessionId ?? "";
      return childId !== "" && (await readOutcomes(service, childId)).length === 1;
    }, "the child's run has failed");
    assert.equal((await readAgents(service, session.sessionId))[0]?.outcome, null, "a retry follows");
    await stop(session);
    const [agent] = await readAgents(service, session.sessionId);
    assert.equal(agent?.outcome, "cancelled");
    assert.deepEqual(await readOutcomes(service, childId), ["errored", "cancelled"]);
  });
});

describe("the step limit", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService({ AGENT_MAX_STEPS: "4" });
  });
  after(() => service.close());

  it("fails a child that calls tools and never submits, and the parent gets the error", async () => {
    scriptByTask(service, {
      "lead patient": [{ toolCalls: [spawn({ objective: "never submit" })] }, { toolCalls: [wait()] }],
      "never submit": Array(10).fill({ toolCalls: [list] }),
    });
    const session = await service.create("lead patient", delegating);
    await service.completed(session.statusUrl);
    const [report] = JSON.parse(readResult(service, "lead patient", 1)) as Record<string, unknown>[];
    const { status, error, submitted } = report ?? {};
    assert.deepEqual(
      { status, error, submitted },
      { status: "failed", error: "step limit of 4 reached", submitted: false },
    );
    assert.ok(!("result" in (report ?? {})));
    const [settled] = only(await readEvents(service, session.sessionId), "agent.settled");
    assert.deepEqual([settled?.status, settled?.error], ["failed", "step limit of 4 reached"]);
    assert.deepEqual(await readOutcomes(service, session.sessionId), ["succeeded"]);
  });

  it("fails a child whose results all violate its schema", async () => {
    const resultSchema = { type: "object", properties: { price: { type: "number" } }, required: ["price"] };
    scriptByTask(service, {
      "lead mending": [
        { toolCalls: [spawn({ objective: "guess wrong", resultSchema })] },
        { toolCalls: [wait()] },
      ],
      "guess wrong": Array(10).fill({ toolCalls: [submit({ price: "free" })] }),
    });
    const session = await service.create("lead mending", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual([agent?.outcome, agent?.isSubmitted, agent?.result], ["failed", false, null]);
  });

  const lastSteps: [string, Step][] = [
    ["with a tool call", { toolCalls: [list] }],
    ["with an answer", { text: "That is all." }],
  ];
  for (const [name, last] of lastSteps)
    it(`cancels the live children of a parent that reaches it ${name}`, async () => {
      const { promise: never, resolve } = Promise.withResolvers<void>();
      const marker = `lead limit ${name}`;
      scriptByTask(service, {
        [marker]: [
          { toolCalls: [spawn({ objective: "stay for good" })] },
          { toolCalls: [list] },
          { toolCalls: [list] },
          last,
        ],
        "stay for good": [{ hold: never, holdAt: "start", text: "never" }],
      });
      const session = await service.create(marker, delegating);
      await service.completed(session.statusUrl);
      const [agent] = await readAgents(service, session.sessionId);
      assert.equal(agent?.outcome, "cancelled");
      const order = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
      assert.ok(order.indexOf("agent.settled") < order.indexOf("run.completed"));
      resolve();
    });
});
