import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readOffered, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

const delegating = { subAgents: true, capabilities: { browser: false, sandbox: false } };

describe("a session that delegates", () => {
  it("spawns sub-agents, is parked until they end, and gets their results", async () => {
    scriptByTask(service, {
      "lead one": [
        { toolCalls: [spawn({ name: "left", objective: "go left" }, { objective: "go right" })] },
        { toolCalls: [wait()] },
        { text: "Both are back." },
      ],
      "go left": [{ toolCalls: [submit({ side: "left" })] }],
      "go right": [{ toolCalls: [submit(null)] }],
    });
    const session = await service.create("lead one", delegating);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const [left, right] = await readAgents(service, session.sessionId);
    assert.deepEqual([left?.name, right?.name], ["left", "agent-1"]);
    const spawned = JSON.parse(readResult(service, "lead one", 0)) as {
      agentId: string;
      statusUrl: string;
    }[];
    assert.deepEqual(
      spawned.map(({ agentId }) => agentId),
      [left?.sessionId, right?.sessionId],
    );
    const reports = JSON.parse(readResult(service, "lead one", 1)) as Record<string, unknown>[];
    assert.deepEqual(
      reports.map(({ name, status, result, submitted }) => ({ name, status, result, submitted })),
      [
        { name: "left", status: "succeeded", result: { side: "left" }, submitted: true },
        { name: "agent-1", status: "succeeded", result: null, submitted: true },
      ],
    );
    assert.equal(only(events, "agent.spawned").length, 2);
    assert.equal(only(events, "agent.settled").length, 2);
    assert.deepEqual(
      only(events, "turn.resumed").map(({ reason }) => reason),
      only(events, "turn.waiting").map(() => "settled"),
    );
    const usage = only(events, "run.completed")[0]?.usage;
    assert.equal(usage?.modelCalls, 3);
    assert.equal(usage?.delegated?.modelCalls, 2);
    const { status } = await service.read<{ status: string }>(spawned[0]?.statusUrl ?? "");
    assert.equal(status, "completed");
  });

  it("does not end before its sub-agents: it reads their results and continues", async () => {
    scriptByTask(service, {
      "lead two": [
        { toolCalls: [spawn({ objective: "take your time" })] },
        { text: "I am done." },
        { text: "Now I have read it." },
      ],
      "take your time": [{ delayMs: 300, toolCalls: [submit("slow")] }],
      "sub-agents have ended": [{ text: "Now I have read it." }],
    });
    const session = await service.create("lead two", delegating);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const messages = only(events, "message.completed").map(({ message }) => message.parts.at(-1));
    assert.deepEqual(messages.at(-1), { type: "text", text: "Now I have read it." });
    const order = events.map(({ kind }) => kind);
    assert.ok(order.indexOf("agent.settled") < order.indexOf("run.completed"));
  });

  it("reminds a sub-agent that submits nothing once; then its last text is the result", async () => {
    scriptByTask(service, {
      "lead three": [{ toolCalls: [spawn({ objective: "forget it" })] }, { toolCalls: [wait()] }],
      "forget it": [{ text: "The sky is blue." }],
      "You have ended your turn without a result": [{ text: "Still blue." }],
    });
    const session = await service.create("lead three", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual(
      [agent?.outcome, agent?.isSubmitted, agent?.result],
      ["succeeded", false, { value: "Still blue." }],
    );
  });

  it("returns an error for a result that violates its schema, and the sub-agent may correct it", async () => {
    const resultSchema = {
      type: "object",
      properties: { price: { type: "number" } },
      required: ["price"],
    };
    scriptByTask(service, {
      "lead four": [
        { toolCalls: [spawn({ objective: "find the price", resultSchema })] },
        { toolCalls: [wait()] },
      ],
      "find the price": [{ toolCalls: [submit({ price: "12" })] }, { toolCalls: [submit({ price: 12 })] }],
    });
    const session = await service.create("lead four", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual(agent?.result, { value: { price: 12 } });
    assert.match(
      readResult(service, "find the price", 0),
      /does not fit resultSchema:\n- \/price: must be number/,
    );
  });

  it("spawns none of the sub-agents of a call that would exceed a cap", async () => {
    scriptByTask(service, {
      "lead five": [
        { toolCalls: [spawn({ objective: "stay" }, { objective: "stay" })] },
        { toolCalls: [spawn({ objective: "stay" }, { objective: "stay" }, { objective: "stay" })] },
      ],
      stay: [{ delayMs: 500, toolCalls: [submit(1)] }],
    });
    const session = await service.create("lead five", delegating);
    await service.completed(session.statusUrl);
    assert.equal(
      readResult(service, "lead five", 1),
      "Error: spawn_agents: 3 more children would exceed maxLiveChildren=4 (2 live). Wait for one, cancel one, or spawn fewer.",
    );
    assert.equal((await readAgents(service, session.sessionId)).length, 2);
  });

  it("ends all its sub-agents when it is stopped", async () => {
    const { promise: never, resolve } = Promise.withResolvers<void>();
    scriptByTask(service, {
      "lead six": [{ toolCalls: [spawn({ objective: "middle agent" })] }, { toolCalls: [wait()] }],
      "middle agent": [{ toolCalls: [spawn({ objective: "deep agent" })] }, { toolCalls: [wait()] }],
      "deep agent": [{ hold: never, text: "never" }],
    });
    const session = await service.create("lead six", delegating);
    await service.model.waitForRequest(({ userText }) => userText.includes("deep agent"));
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await service.completed(session.statusUrl);
    const ended = await readAgents(service, session.sessionId);
    assert.deepEqual(
      ended.map(({ depth, outcome }) => [depth, outcome]),
      [
        [1, "cancelled"],
        [2, "cancelled"],
      ],
    );
    resolve();
  });

  it("does not stop its sub-agents when a queued message is removed", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    scriptByTask(service, {
      "lead queue": [{ toolCalls: [spawn({ objective: "wait for go" })] }, { toolCalls: [wait()] }],
      "wait for go": [{ hold: go, holdAt: "start", toolCalls: [submit("went")] }],
    });
    const session = await service.create("lead queue", delegating);
    const api = `/api/sessions/${session.sessionId}`;
    await service.model.waitForRequest(({ userText }) => userText.includes("wait for go"));
    const posted = await service.call("POST", `${api}/agent/messages`, { text: "later" });
    const { requestId } = (await posted.json()) as { requestId: string };
    assert.equal((await service.call("DELETE", `${api}/queue/${requestId}`)).status, 200);
    resolve();
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual([agent?.outcome, agent?.result], ["succeeded", { value: "went" }]);
  });

  it("also ends a sub-agent that has an unread message when it is stopped", async () => {
    const { promise: never, resolve } = Promise.withResolvers<void>();
    let isSteered = false;
    service.model.respondWith(({ userText, answersSoFar, toolResults }) => {
      if (userText.includes("never finish")) return { hold: never, holdAt: "start", text: "never" };
      if (userText.includes("and this too")) return { toolCalls: [submit("went on")] };
      const id = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      isSteered ||= answersSoFar === 2;
      return (
        [
          { toolCalls: [spawn({ objective: "never finish" })] },
          {
            delayMs: 200,
            toolCalls: [{ name: "message_agent", arguments: { agentId: id, text: "and this too" } }],
          },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("lead steer", delegating);
    await waitUntil(() => isSteered, "the sub-agent has a message to read");
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await service.completed(session.statusUrl);
    resolve();
    const [agent] = await readAgents(service, session.sessionId);
    assert.equal(agent?.outcome, "cancelled");
    const runs = only(await readEvents(service, agent?.sessionId ?? ""), "run.completed");
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      runs.map(() => "cancelled"),
    );
  });

  it("lists its sub-agents with results; the API can read a sub-agent, but only its parent controls it", async () => {
    scriptByTask(service, {
      "lead eight": [
        { toolCalls: [spawn({ name: "reader", objective: "read it" })] },
        { toolCalls: [wait()] },
      ],
      "read it": [
        { toolCalls: [{ name: "report_progress", arguments: { text: "Half of it." } }] },
        { toolCalls: [submit([1, 2])] },
      ],
    });
    const session = await service.create("lead eight", delegating);
    await service.completed(session.statusUrl);
    const { agents } = await service.read<{ agents: Record<string, unknown>[] }>(
      `/api/sessions/${session.sessionId}/agents`,
    );
    const [agent] = agents;
    assert.equal(agents.length, 1);
    const { name, depth, status, result, submitted, progress, parentId } = agent ?? {};
    assert.deepEqual(
      { name, depth, status, result, submitted, progress, parentId },
      {
        name: "reader",
        depth: 1,
        status: "succeeded",
        result: [1, 2],
        submitted: true,
        progress: "Half of it.",
        parentId: session.sessionId,
      },
    );
    const child = `/api/sessions/${agent?.agentId}`;
    assert.equal((await service.call("GET", `${child}/messages`)).status, 200);
    for (const [method, path, body] of [
      ["POST", "/agent/messages", { text: "hi" }],
      ["POST", "/agent/cancel", undefined],
      ["POST", "/browser", { url: "https://example.com" }],
      ["DELETE", "", undefined],
    ] as const) {
      const answer = await service.call(method, `${child}${path}`, body);
      assert.equal(answer.status, 409, path);
      assert.match(await answer.text(), /only the session that delegated to it/);
    }
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "agent.progress")[0]?.text, "Half of it.");
    const origins = only(await readEvents(service, String(agent?.agentId)), "run.started");
    assert.deepEqual(
      origins.map(({ origin }) => origin),
      ["subagent"],
    );
  });

  it("steers a live sub-agent with a message, and gives an ended one a new turn", async () => {
    const message = (agentId: string, text: string) => ({
      name: "message_agent",
      arguments: { agentId, text },
    });
    service.model.respondWith(async ({ userText, answersSoFar, toolResults }) => {
      if (userText.includes("add one more")) return { toolCalls: [submit("second")] };
      if (userText.includes("count them")) return { toolCalls: [submit("first")] };
      const id = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      const steps = [
        { toolCalls: [spawn({ objective: "count them" })] },
        { toolCalls: [wait()] },
        { toolCalls: [message(id, "add one more")] },
        { toolCalls: [wait()] },
        { toolCalls: [{ name: "list_agents", arguments: {} }] },
        { toolCalls: [{ name: "cancel_agent", arguments: { agentId: id } }] },
        { toolCalls: [message("ses_unknown", "hi")] },
      ];
      return steps[answersSoFar] ?? { text: "Done." };
    });
    const session = await service.create("lead nine", delegating);
    await service.completed(session.statusUrl);
    const first = JSON.parse(readResult(service, "lead nine", 1)) as { result: unknown }[];
    const second = JSON.parse(readResult(service, "lead nine", 3)) as { result: unknown }[];
    assert.deepEqual([first[0]?.result, second[0]?.result], ["first", "second"]);
    const [listed] = JSON.parse(readResult(service, "lead nine", 4)) as Record<string, unknown>[];
    assert.deepEqual([listed?.status, listed?.depth, listed?.lastStep], ["succeeded", 1, "ended its turn"]);
    assert.equal(readResult(service, "lead nine", 5), "agent-1 has ended already: succeeded.");
    assert.match(readResult(service, "lead nine", 6), /you have no sub-agent ses_unknown/);
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.usage.delegated?.modelCalls, 2);
  });

  it("refuses spawns at the depth limit, and submissions of a sub-agent that has live sub-agents itself", async () => {
    scriptByTask(service, {
      "lead ten": [{ toolCalls: [spawn({ objective: "second level" })] }, { toolCalls: [wait()] }],
      "second level": [
        { toolCalls: [spawn({ name: "deep", objective: "third level" }), submit("too early")] },
        { toolCalls: [wait()] },
        { toolCalls: [submit("in time")] },
      ],
      "third level": [
        { delayMs: 100, toolCalls: [spawn({ objective: "too deep" })] },
        { toolCalls: [submit("alone")] },
      ],
    });
    const session = await service.create("lead ten", delegating);
    await service.completed(session.statusUrl);
    assert.match(readResult(service, "second level", 1), /1 of your own sub-agents is live \(deep\)/);
    assert.match(readResult(service, "third level", 0), /exceeds DELEGATION_MAX_DEPTH=2/);
    const agents = await readAgents(service, session.sessionId);
    assert.deepEqual(
      agents.map(({ depth, result }) => [depth, result?.value]),
      [
        [1, "in time"],
        [2, "alone"],
      ],
    );
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.usage.delegated?.modelCalls, 5);
  });

  it("reports a sub-agent as failed if its last run fails, not if a retry follows", async () => {
    const calls: string[] = [];
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("break for good")) return { status: 400, message: "no such thing" };
      if (userText.includes("break once")) {
        calls.push(userText);
        return calls.length === 1 ? { status: 500, message: "away" } : { toolCalls: [submit("retried")] };
      }
      return (
        [
          { toolCalls: [spawn({ objective: "break for good" }, { objective: "break once" })] },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("lead eleven", delegating);
    await service.completed(session.statusUrl);
    const reports = JSON.parse(readResult(service, "lead eleven", 1)) as Record<string, unknown>[];
    assert.deepEqual(
      reports.map(({ status, result }) => [status, result]),
      [
        ["failed", undefined],
        ["succeeded", "retried"],
      ],
    );
    assert.match(String(reports[0]?.error), /no such thing/);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "agent.settled").length, 2);
  });

  it("has the delegation tools only with permission; only sub-agents can submit results", async () => {
    scriptByTask(service, {
      "lead seven": [{ toolCalls: [spawn({ objective: "look around" })] }, { toolCalls: [wait()] }],
      "look around": [{ toolCalls: [submit("seen")] }],
    });
    const alone = await service.create("alone", {
      ...delegating,
      subAgents: false,
      tools: { include: ["spawn_agents", "submit_result"] },
    });
    await service.completed(alone.statusUrl);
    const own = ["spawn_agents", "wait_for_agents", "message_agent", "list_agents", "cancel_agent"];
    const child = ["submit_result", "report_progress"];
    const among = (names: string[]) => [...own, ...child].filter((name) => names.includes(name));
    assert.deepEqual(among(readOffered(service, "alone")), []);
    const session = await service.create("lead seven", delegating);
    await service.completed(session.statusUrl);
    assert.deepEqual(among(readOffered(service, "lead seven")), own);
    assert.deepEqual(among(readOffered(service, "look around")), [...own, ...child]);
  });
});

describe("a service that ends while sub-agents work", () => {
  it("continues after the next start with one spawn and one result per sub-agent, and one wake", async () => {
    const first = await openTestService();
    scriptByTask(first, {
      "lead restart": [
        { toolCalls: [spawn({ objective: "slow one" }, { objective: "slow two" })] },
        { toolCalls: [wait()] },
      ],
      slow: [{ hold: "once", text: "never" }],
    });
    const session = await first.create("lead restart", delegating);
    await waitUntil(
      async () => only(await readEvents(first, session.sessionId), "turn.waiting").length === 1,
      "the parent waits",
    );
    await first.close({ keepFiles: true });
    const second = await openTestService({}, first.dataDir);
    scriptByTask(second, {
      "lead restart": [
        { toolCalls: [spawn({ objective: "slow one" }, { objective: "slow two" })] },
        { toolCalls: [wait()] },
      ],
      slow: [{ toolCalls: [submit("done")] }],
    });
    await second.completed(session.statusUrl);
    const events = await readEvents(second, session.sessionId);
    const count = (kind: Parameters<typeof only>[1]) => only(events, kind).length;
    assert.deepEqual(
      [count("agent.spawned"), count("agent.settled"), count("turn.resumed"), count("run.completed")],
      [2, 2, 1, 1],
    );
    assert.equal((await readAgents(second, session.sessionId)).length, 2);
    await second.close();
  });
});
