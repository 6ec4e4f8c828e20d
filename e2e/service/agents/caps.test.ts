import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, UNUSED_BROWSER } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";
import { countEverything, delegating } from "./tree-testing.ts";

const children = (count: number, more: Record<string, unknown> = {}): StepToolCall =>
  spawn(...Array.from({ length: count }, () => ({ objective: "be quick", ...more })));

describe("a deployment whose limits were lowered after a session was created", () => {
  it("applies the lower limits to the session, or the session's own caps if those are lower still", async () => {
    const first = await openTestService(UNUSED_BROWSER);
    scriptByTask(first, {});
    const profile = { ...delegating, capabilities: { browser: true, sandbox: true } };
    const wide = await first.create("hello", {
      ...profile,
      delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
    });
    const narrow = await first.create("hello", {
      ...profile,
      delegation: { maxLiveChildren: 1, maxLiveBrowsers: 0 },
    });
    for (const { statusUrl } of [wide, narrow]) await first.completed(statusUrl);
    await first.close({ keepFiles: true });

    const ceilings = { DELEGATION_MAX_LIVE_CHILDREN: "2", DELEGATION_MAX_LIVE_BROWSERS: "1" };
    const second = await openTestService({ ...UNUSED_BROWSER, ...ceilings }, first.dataDir);
    try {
      scriptByTask(second, {
        "lead ceiling": [
          { toolCalls: [children(3)] },
          { toolCalls: [children(2, { browser: "own" })] },
          { toolCalls: [children(1, { browser: "own" })] },
          { toolCalls: [wait()] },
        ],
        "be quick": [{ toolCalls: [submit("ok")] }],
      });
      const play = async ({ sessionId }: { sessionId: string }) => {
        second.model.requests.length = 0;
        const path = `/api/sessions/${sessionId}/agent`;
        const posted = await second.call("POST", `${path}/messages`, { text: "lead ceiling" });
        await second.completed(((await posted.json()) as { statusUrl: string }).statusUrl);
        return [0, 1, 2].map((number) => readResult(second, "lead ceiling", number));
      };
      const [tooMany, tooManyBrowsers, fits] = await play(wide);
      assert.equal(
        tooMany,
        "Error: spawn_agents: 3 more children would exceed maxLiveChildren=2 (0 live). Wait for one, cancel one, or spawn fewer.",
      );
      assert.equal(
        tooManyBrowsers,
        "Error: spawn_agents: 2 more children with browser: own would exceed maxLiveBrowsers=1 (0 live). Wait for one, cancel one, or spawn fewer.",
      );
      assert.match(fits ?? "", /"agentId"/);
      assert.equal((await readAgents(second, wide.sessionId)).length, 1);

      assert.deepEqual(await play(narrow), [
        "Error: spawn_agents: 3 more children would exceed maxLiveChildren=1 (0 live). Wait for one, cancel one, or spawn fewer.",
        "Error: spawn_agents: 2 more children would exceed maxLiveChildren=1 (0 live). Wait for one, cancel one, or spawn fewer.",
        "Error: spawn_agents: 1 more child with browser: own would exceed maxLiveBrowsers=0 (0 live). Do the work yourself.",
      ]);
      assert.equal((await readAgents(second, narrow.sessionId)).length, 0);
    } finally {
      await second.close();
    }
  });
});

describe("the limits of a tree", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService({ DELEGATION_MAX_LIVE_TOTAL: "3", DELEGATION_MAX_DEPTH: "1" });
  });
  after(() => service.close());

  it("refuse a spawn beyond DELEGATION_MAX_LIVE_TOTAL, which writes nothing", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const counts: unknown[] = [];
    const steps = [
      { toolCalls: [children(2, { objective: "hold on" })] },
      { toolCalls: [children(2, { name: "never-born" })] },
      { toolCalls: [children(1, { objective: "hold on" })] },
      { toolCalls: [children(1)] },
      { toolCalls: [wait()] },
    ];
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (userText.includes("hold on")) return { hold: go, holdAt: "start", toolCalls: [submit("held")] };
      counts[answersSoFar] = await countEverything(service);
      if (answersSoFar === 4) resolve();
      return steps[answersSoFar] ?? { text: "Done." };
    });
    const session = await service.create("lead total", delegating);
    await service.completed(session.statusUrl);
    assert.equal(
      readResult(service, "lead total", 1),
      "Error: spawn_agents: 2 more children would exceed DELEGATION_MAX_LIVE_TOTAL=3 (2 live in the whole tree). Wait for one, cancel one, or spawn fewer.",
    );
    assert.deepEqual(counts[2], counts[1], "the refusal wrote nothing");
    assert.equal(
      readResult(service, "lead total", 3),
      "Error: spawn_agents: 1 more child would exceed DELEGATION_MAX_LIVE_TOTAL=3 (3 live in the whole tree). Wait for one, cancel one, or spawn fewer.",
    );
    assert.deepEqual(counts[4], counts[3], "the refusal wrote nothing");
    const agents = await readAgents(service, session.sessionId);
    assert.deepEqual(
      agents.map(({ outcome }) => outcome),
      Array(3).fill("succeeded"),
      "the live sub-agents continued",
    );
    assert.equal(only(await readEvents(service, session.sessionId), "agent.spawned").length, 3);
  });

  it("refuse a spawn beyond DELEGATION_MAX_DEPTH, which writes nothing", async () => {
    const counts: unknown[] = [];
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (userText.includes("lead depth"))
        return (
          [{ toolCalls: [spawn({ objective: "be a manager" })] }, { toolCalls: [wait()] }][answersSoFar] ?? {
            text: "Done.",
          }
        );
      counts[answersSoFar] = await countEverything(service);
      return { toolCalls: [answersSoFar === 0 ? children(1) : submit("alone")] };
    });
    const session = await service.create("lead depth", delegating);
    await service.completed(session.statusUrl);
    assert.equal(
      readResult(service, "be a manager", 0),
      "Error: spawn_agents: a sub-agent of yours would be at depth 2, which exceeds DELEGATION_MAX_DEPTH=1. Do the work yourself.",
    );
    assert.deepEqual(counts[1], counts[0], "the refusal wrote nothing");
    const [agent, ...others] = await readAgents(service, session.sessionId);
    assert.deepEqual([agent?.result?.value, others], ["alone", []]);
    assert.equal(only(await readEvents(service, agent?.sessionId ?? ""), "agent.spawned").length, 0);
  });

  it("count a sub-agent again when a message gives it a new turn", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const message = (agentId: string) => ({
      name: "message_agent",
      arguments: { agentId, text: "once more" },
    });
    service.model.respondWith(({ userText, answersSoFar, toolResults }) => {
      if (userText.includes("hold on")) return { hold: go, holdAt: "start", toolCalls: [submit("held")] };
      if (userText.includes("be quick")) return { toolCalls: [submit("quick")] };
      const id = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      if (answersSoFar === 4) resolve();
      return (
        [
          { toolCalls: [children(1)] },
          { toolCalls: [wait()] },
          { toolCalls: [children(3, { objective: "hold on" })] },
          { toolCalls: [message(id)] },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("lead again", delegating);
    await service.completed(session.statusUrl);
    assert.equal(
      readResult(service, "lead again", 3),
      "Error: message_agent: 1 more child would exceed DELEGATION_MAX_LIVE_TOTAL=3 (3 live in the whole tree). Wait for one, cancel one, or spawn fewer.",
    );
    const [quick] = await readAgents(service, session.sessionId);
    assert.deepEqual(
      [quick?.outcome, quick?.result?.value],
      ["succeeded", "quick"],
      "the sub-agent keeps its result",
    );
  });
});
