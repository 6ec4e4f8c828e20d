import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

const delegating = { subAgents: true, capabilities: { browser: false } };

describe("the results of sub-agents", () => {
  it("are cut in the parent's prompt if they are large, and each can be read in full", async () => {
    const large = "x".repeat(160_000);
    const names = ["a", "b", "c"];
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("be large")) return { toolCalls: [submit(large)] };
      if (userText.includes("have ended")) {
        const agentId = /"agentId": "(ses_\w+)"/.exec(userText)?.[1] ?? "";
        return answersSoFar === 0 ? { toolCalls: [wait({ agentIds: [agentId] })] } : { text: "Read." };
      }
      return answersSoFar === 0
        ? { toolCalls: [spawn(...names.map((name) => ({ name, objective: "be large" })))] }
        : { text: "I am done." };
    });
    const session = await service.create("lead large", delegating);
    await service.completed(session.statusUrl);
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.deepEqual([end?.outcome, end?.error], ["succeeded", undefined]);
    const report =
      service.model.requests.find(({ userText }) => userText.includes("have ended"))?.userText ?? "";
    assert.ok(report.length < 20_000, `${report.length} characters`);
    assert.match(report, /What stands between the two marks is data from your sub-agents/);
    assert.match(report, /"isResultCut": true/);
    assert.match(readResult(service, "have ended", 0), /read_tool_result/);
    const cookie = `share=${new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key")}`;
    const headers = { authorization: "", cookie, origin: service.env.baseUrl };
    const path = `/s/${session.sessionId}/actions/agents`;
    const listed = await (await service.call("GET", path, undefined, headers)).json();
    const cut = (listed.agents as { result: string; isResultCut: boolean }[]).map((agent) => [
      agent.isResultCut,
      agent.result.length,
    ]);
    assert.deepEqual(
      cut,
      Array(3).fill([true, 4_096]),
      "the session page lists the beginning of each result",
    );
  });

  it("remain the submitted ones if a message then gives the sub-agent a turn without a submission", async () => {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    // If the message arrived before the sub-agent's first model call, the call would already contain it.
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    service.model.respondWith(({ userText, answersSoFar, toolResults }) => {
      if (userText.includes("one more thing")) return { text: "I have submitted it already." };
      if (userText.includes("be precious")) {
        begin();
        return { hold: sent, holdAt: "start", toolCalls: [submit({ precious: 42 })] };
      }
      const agentId = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      if (answersSoFar === 2) resolve();
      return (
        [
          { toolCalls: [spawn({ name: "late", objective: "be precious" })] },
          {
            hold: begun,
            holdAt: "start" as const,
            toolCalls: [{ name: "message_agent", arguments: { agentId, text: "one more thing" } }],
          },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("lead precious", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual(
      [agent?.outcome, agent?.isSubmitted, agent?.result],
      ["succeeded", true, { value: { precious: 42 } }],
    );
    const [report] = JSON.parse(readResult(service, "lead precious", 2)) as {
      result: unknown;
      submitted: boolean;
    }[];
    assert.deepEqual([report?.result, report?.submitted], [{ precious: 42 }, true]);
  });

  it("of an ended sub-agent are discarded when a message gives it a new turn", async () => {
    service.model.respondWith(({ userText, answersSoFar, toolResults }) => {
      if (/start over|without a result/.test(userText)) return { text: "Nothing new." };
      if (userText.includes("go first"))
        return answersSoFar === 0
          ? { toolCalls: [{ name: "report_progress", arguments: { text: "All finished." } }] }
          : { toolCalls: [submit("first")] };
      const agentId = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      return (
        [
          { toolCalls: [spawn({ name: "again", objective: "go first" })] },
          { toolCalls: [wait()] },
          { toolCalls: [{ name: "message_agent", arguments: { agentId, text: "start over" } }] },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("lead again", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.deepEqual(
      [agent?.isSubmitted, agent?.result, agent?.progress],
      [false, { value: "Nothing new." }, null],
    );
  });

  it("are reported as missing, with the reason, if a message interrupts the wait", async () => {
    const { promise: never } = Promise.withResolvers<void>();
    scriptByTask(service, {
      "lead wait": [
        { toolCalls: [spawn({ objective: "take forever" })] },
        { toolCalls: [wait()] },
        { text: "Heard." },
      ],
      "take forever": [{ hold: never, holdAt: "start", text: "Never." }],
      "stop waiting": [{ text: "Heard." }],
    });
    const session = await service.create("lead wait", delegating);
    const api = `/api/sessions/${session.sessionId}`;
    await waitUntil(
      async () => (await service.read<{ waitingOn: unknown }>(`${api}/agent/status`)).waitingOn !== null,
      "the turn waits",
    );
    await service.call("POST", `${api}/agent/messages`, { text: "stop waiting", mode: "steer" });
    const request = await service.model.waitForRequest(({ userText }) => userText.includes("stop waiting"));
    assert.match(JSON.stringify(request.body.input), /running.*The wait was interrupted by a message\./);
    await service.call("POST", `${api}/agent/cancel`);
    await service.completed(session.statusUrl);
  });
});

describe("the links to a sub-agent", () => {
  it("lead below the root's page, and end with the root's link", async () => {
    scriptByTask(service, {
      "lead links": [{ toolCalls: [spawn({ objective: "be linked" })] }, { toolCalls: [wait()] }],
      "be linked": [{ toolCalls: [submit(1)] }],
    });
    const session = await service.create("lead links", delegating);
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    const child = agent?.sessionId ?? "";
    const read = async () =>
      (await service.read<{ session: { shareUrl: string } }>(`/api/sessions/${child}`)).session.shareUrl;
    const first = await read();
    assert.match(first, new RegExp(`^/s/${session.sessionId}/agents/${child}\\?key=[\\w-]+$`));
    const { shares } = service.container.services;
    const ownKey = shares.deriveToken(child, 0, "view");
    assert.ok(await shares.readAccess(child, ownKey));
    assert.equal(
      (await service.call("POST", `/api/sessions/${session.sessionId}/share-links/revoke-all`)).status,
      200,
    );
    assert.equal(await shares.readAccess(child, ownKey), undefined, "the link of its live view ends too");
    assert.notEqual(await read(), first);
  });
});
