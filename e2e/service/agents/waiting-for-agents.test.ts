import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest, Step } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import { readAgents, readResult, spawn, submit, wait } from "./agents-testing.ts";
import { delegating } from "./tree-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

type Report = { agentId: string; name: string; status: string; result?: unknown; submitted: boolean };

const reportsOf = (marker: string, number: number) =>
  JSON.parse(readResult(service, marker, number)) as Report[];
const outline = (reports: Report[]) =>
  reports.map(({ name, status, result, submitted }) => [name, status, result, submitted]);

/** Reads the ids of the sub-agents from the result of a turn's first tool call, which is `spawn_agents`. */
const readIds = ({ toolResults }: RecordedRequest): string[] =>
  (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[]).map(({ agentId }) => agentId);

type FastAndSlow = { fast: string; slow: string; release: () => void };

/**
 * Starts a session that spawns a fast and a slow sub-agent. The slow sub-agent gets no answer from the model until
 * `release` is called.
 *
 * @param decide Returns the parent's step for a model call after the spawn; undefined ends the turn. `call` is the
 * number of the model call, from 1.
 */
function playFastAndSlow(marker: string, decide: (call: number, both: FastAndSlow) => Step | undefined) {
  const { promise: go, resolve } = Promise.withResolvers<void>();
  const both = spawn(
    { name: `${marker}-fast`, objective: "be fast" },
    { name: `${marker}-slow`, objective: "be slow" },
  );
  service.model.respondWith((request) => {
    const { userText, answersSoFar } = request;
    if (userText.includes("be fast")) return { toolCalls: [submit("fast result")] };
    if (userText.includes("be slow"))
      return { hold: go, holdAt: "start", toolCalls: [submit("slow result")] };
    if (!userText.includes(`lead ${marker}`)) return { text: "Done." };
    if (answersSoFar === 0) return { toolCalls: [both] };
    const [fast = "", slow = ""] = readIds(request);
    return decide(answersSoFar, { fast, slow, release: resolve }) ?? { text: "Done." };
  });
  return service.create(`lead ${marker}`, delegating);
}

describe("wait_for_agents", () => {
  it("returns at the first result with until: any, and reports the others as running", async () => {
    const session = await playFastAndSlow("any", (call, { slow, release }) => {
      if (call === 1) return { toolCalls: [wait({ until: "any" })] };
      // The first wait has returned to the model, although the slow sub-agent still runs.
      release();
      return call === 2 ? { toolCalls: [wait({ agentIds: [slow], until: "any" })] } : undefined;
    });
    await service.completed(session.statusUrl);
    const first = reportsOf("lead any", 1);
    assert.deepEqual(outline(first), [
      ["any-fast", "succeeded", "fast result", true],
      ["any-slow", "running", undefined, false],
    ]);
    assert.ok(!("result" in (first[1] ?? {})));
    assert.deepEqual(outline(reportsOf("lead any", 2)), [["any-slow", "succeeded", "slow result", true]]);
  });

  it("returns at once with until: any if one of the sub-agents has already ended", async () => {
    const session = await playFastAndSlow("ended", (call, { fast, slow, release }) => {
      if (call === 1) return { toolCalls: [wait({ agentIds: [fast] })] };
      if (call === 2) return { toolCalls: [wait({ agentIds: [slow, fast], until: "any" })] };
      release();
      return call === 3 ? { toolCalls: [wait()] } : undefined;
    });
    await service.completed(session.statusUrl);
    assert.deepEqual(outline(reportsOf("lead ended", 2)), [
      ["ended-fast", "succeeded", "fast result", true],
      ["ended-slow", "running", undefined, false],
    ]);
    const waits = only(await readEvents(service, session.sessionId), "turn.waiting");
    assert.ok(
      waits.every(({ waitingOn }) => waitingOn.ids.length === 1),
      "the turn was not parked",
    );
    // By default, `wait_for_agents` reports only ended sub-agents that it has not reported to the model before.
    assert.deepEqual(outline(reportsOf("lead ended", 3)), [["ended-slow", "succeeded", "slow result", true]]);
  });

  it("returns after timeoutSeconds, reports the running sub-agents, and stops none", async () => {
    const session = await playFastAndSlow("timeout", (call, { slow, release }) => {
      if (call === 1) return { toolCalls: [wait({ timeoutSeconds: 1 })] };
      release();
      return call === 2 ? { toolCalls: [wait({ agentIds: [slow] })] } : undefined;
    });
    await service.completed(session.statusUrl);
    assert.deepEqual(outline(reportsOf("lead timeout", 1)), [
      ["timeout-fast", "succeeded", "fast result", true],
      ["timeout-slow", "running", undefined, false],
    ]);
    assert.deepEqual(outline(reportsOf("lead timeout", 2)), [
      ["timeout-slow", "succeeded", "slow result", true],
    ]);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "turn.resumed")[0]?.reason, "deadline");
    assert.deepEqual(
      (await readAgents(service, session.sessionId)).map(({ outcome }) => outcome),
      ["succeeded", "succeeded"],
    );
  });

  it("refuses an id that is unknown, of another session, or of a grandchild", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const held = (result: string): Step => ({ hold: go, holdAt: "start", toolCalls: [submit(result)] });
    const arrived = (task: string) => service.model.waitForRequest(({ userText }) => userText.includes(task));
    const ids: Record<"foreign" | "root" | "grandchild", string> = { foreign: "", root: "", grandchild: "" };
    const waitFor = (agentId: string) => wait({ agentIds: [agentId] });
    const cancel = (agentId: string) => ({ name: "cancel_agent", arguments: { agentId } });
    const message = (agentId: string) => ({ name: "message_agent", arguments: { agentId, text: "stop" } });
    const calls = () => [
      ...["ses_unknown", ids.foreign, ids.root, ids.grandchild].map(waitFor),
      cancel(ids.foreign),
      cancel(ids.root),
      message(ids.foreign),
      message(ids.grandchild),
    ];
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (userText.includes("stay abroad")) return held("from abroad");
      if (userText.includes("stay below")) return held("from below");
      if (userText.includes("manage one"))
        return (
          [{ toolCalls: [spawn({ objective: "stay below" })] }, { toolCalls: [wait()] }][answersSoFar] ?? {
            toolCalls: [submit("managed")],
          }
        );
      if (userText.includes("lead abroad"))
        return (
          [{ toolCalls: [spawn({ objective: "stay abroad" })] }, { toolCalls: [wait()] }][answersSoFar] ?? {
            text: "Done.",
          }
        );
      if (!userText.includes("lead strangers") || answersSoFar > 1) return { text: "Done." };
      if (answersSoFar === 0) return { toolCalls: [spawn({ objective: "manage one" })] };
      await arrived("stay below");
      ids.grandchild =
        (await readAgents(service, ids.root)).find(({ depth }) => depth === 2)?.sessionId ?? "";
      return { toolCalls: calls() };
    });
    const foreign = await service.create("lead abroad", delegating);
    await arrived("stay abroad");
    ids.foreign = (await readAgents(service, foreign.sessionId))[0]?.sessionId ?? "";
    const session = await service.create("lead strangers", delegating);
    ids.root = session.sessionId;
    await service.model.waitForRequest(
      ({ userText, answersSoFar }) => userText.includes("lead strangers") && answersSoFar === 2,
    );
    resolve();
    await Promise.all([foreign, session].map(({ statusUrl }) => service.completed(statusUrl)));
    assert.match(ids.grandchild, /^ses_/);
    const results = calls().map((_call, index) => readResult(service, "lead strangers", index + 1));
    const refusal = (tool: string, id: string) => `Error: ${tool}: you have no sub-agent ${id}.`;
    assert.deepEqual(results, [
      refusal("wait_for_agents", "ses_unknown"),
      refusal("wait_for_agents", ids.foreign),
      refusal("wait_for_agents", ids.root),
      refusal("wait_for_agents", ids.grandchild),
      refusal("cancel_agent", ids.foreign),
      refusal("cancel_agent", ids.root),
      refusal("message_agent", ids.foreign),
      refusal("message_agent", ids.grandchild),
    ]);
    for (const { sessionId } of [foreign, session])
      for (const { outcome } of await readAgents(service, sessionId)) assert.equal(outcome, "succeeded");
  });
});

describe("a structured session that delegates", () => {
  it("collects its deliverable after its children have ended and it has read their results", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const outputSchema = { type: "object", properties: { found: { type: "string" } }, required: ["found"] };
    service.model.respondWith(({ kind, text, userText, answersSoFar }) => {
      if (kind === "probe") return undefined;
      if (kind === "structured") return { json: { found: text.includes("a red door") ? "red" : "nothing" } };
      if (userText.includes("look for the door"))
        return { hold: go, holdAt: "start", toolCalls: [submit("a red door")] };
      if (answersSoFar === 0 && userText.includes("lead structured"))
        return { toolCalls: [spawn({ objective: "look for the door" })] };
      return { text: "That is all." };
    });
    const session = await service.create("lead structured", { ...delegating, outputSchema });
    await waitUntil(
      async () => only(await readEvents(service, session.sessionId), "turn.waiting").length === 1,
      "the turn waits for the child",
    );
    const isCollected = () => service.model.requests.some(({ kind }) => kind === "structured");
    assert.ok(!isCollected());
    resolve();
    await service.completed(session.statusUrl);
    assert.ok(isCollected());
    const { deliverable } = await readStatus(service, session.sessionId);
    assert.deepEqual([deliverable?.status, deliverable?.value], ["ready", { found: "red" }]);
    const order = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
    assert.ok(order.indexOf("agent.settled") < order.indexOf("deliverable.ready"));
  });
});
