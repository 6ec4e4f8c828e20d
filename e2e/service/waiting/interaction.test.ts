import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { elicitations } from "#db/schema/index.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { readAgents, scriptByTask, spawn, submit, wait } from "../agents/agents-testing.ts";
import { delegating } from "../agents/tree-testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import { listItems, onlyItem, settle, untilTurnParked } from "./inbox-testing.ts";
import { ask, sayAsPerson } from "./waiting-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

const NO_PERSON =
  "No person can answer: this turn was not started by a person. Do not wait and do not ask again: continue with the most sensible assumption, and state it in your reply.";
const asking: Step[] = [{ toolCalls: [ask("Which colour?")] }];

/** Creates a session as a program. Turns whose message contains a key of `tasks` take its steps. */
const create = (text: string, interaction?: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  service.create(text, { capabilities: { browser: false }, ...(interaction && { interaction }), ...more });

const untilAsked = async (session: { sessionId: string }, count = 1) => {
  await waitUntil(
    async () => (await listItems(service, session, "?state=open")).length === count,
    `the session has ${count} open items`,
  );
  return listItems(service, session, "?state=open");
};

const resultsOf = async ({ sessionId }: { sessionId: string }) =>
  only(await readEvents(service, sessionId), "tool.result").map(({ preview }) => preview);

/** Ends the waits of a session's turn as their deadline does. */
const expire = async (session: { sessionId: string }) => {
  await untilTurnParked(service, session);
  await endOverdueWaits(service.container.services, new Date(Date.now() + 700_000_000));
};

describe("a session without interaction", () => {
  for (const interaction of [undefined, { mode: "decline" }])
    it(`asks no one in turns of programs: ${JSON.stringify(interaction)}`, async () => {
      scriptByTask(service, { "ask nobody": asking });
      const session = await create("ask nobody", interaction);
      await service.completed(session.statusUrl);
      const followUp = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
        text: "ask nobody",
      });
      await service.completed(((await followUp.json()) as { statusUrl: string }).statusUrl);
      assert.deepEqual(await resultsOf(session), [NO_PERSON, NO_PERSON]);
      assert.deepEqual(await listItems(service, session), []);
      assert.match(
        JSON.stringify(service.model.requests.at(-1)?.body),
        /No person is waiting on the session page/,
      );
    });

  it("shows interaction as null, and with its defaults if it was sent", async () => {
    scriptByTask(service, {});
    const read = async ({ sessionId }: { sessionId: string }) =>
      (await service.read<{ session: { interaction: unknown } }>(`/api/sessions/${sessionId}`)).session
        .interaction;
    assert.equal(await read(await create("say done")), null);
    assert.deepEqual(await read(await create("say done", { mode: "ask" })), {
      mode: "ask",
      timeoutSeconds: 86_400,
      onTimeout: "continue",
    });
  });

  for (const [interaction, problem] of [
    [{}, 'interaction.mode: must be "ask" or "decline"'],
    [{ mode: "ask", timeoutSeconds: 9 }, "interaction.timeoutSeconds: must be an integer from 10 to 604800"],
    [
      { mode: "ask", timeoutSeconds: 10.5 },
      "interaction.timeoutSeconds: must be an integer from 10 to 604800",
    ],
    [{ mode: "ask", onTimeout: "stop" }, 'interaction.onTimeout: must be "continue" or "fail"'],
    [{ mode: "ask", extra: 1 }, "interaction.extra: unknown field"],
  ] as const)
    it(`refuses ${JSON.stringify(interaction)}`, async () => {
      const messages = [{ role: "user", parts: [{ type: "text", text: "go" }] }];
      const response = await service.call("POST", "/api/session", { messages, interaction });
      const { error } = (await response.json()) as { error: string };
      assert.deepEqual([response.status, error.split(":")[0]], [400, problem.split(":")[0]], error);
    });
});

describe("a session with interaction.mode ask", () => {
  it("asks in its first turn and in follow-ups of programs, and waits as long as the caller said", async () => {
    scriptByTask(service, { "ask me": asking });
    const session = await create("ask me", { mode: "ask", timeoutSeconds: 3_600 });
    const [first] = await untilAsked(session);
    assert.ok(first);
    const openMs = Date.parse(first.expiresAt ?? "") - Date.parse(first.createdAt);
    assert.equal(Math.round(openMs / 1_000), 3_600);
    assert.equal((await readStatus(service, session.sessionId)).waitingOn?.kind, "person");
    assert.doesNotMatch(
      JSON.stringify(service.model.requests.at(-1)?.body),
      /No person is waiting on the session page/,
    );
    assert.equal((await settle(service, session, first.id, { answer: "red" })).status, 200);
    await service.completed(session.statusUrl);
    const followUp = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      text: "ask me again",
    });
    const [second] = await untilAsked(session);
    assert.equal((await settle(service, session, second?.id ?? "", { answer: "blue" })).status, 200);
    await service.completed(((await followUp.json()) as { statusUrl: string }).statusUrl);
    assert.deepEqual(await resultsOf(session), ["The person answered: red", "The person answered: blue"]);
    assert.equal(only(await readEvents(service, session.sessionId), "run.started")[0]?.origin, "external");
  });

  it("asks in the retry of a program's turn, too", async () => {
    const failed = { status: 503, message: "overloaded", headers: { "retry-after-ms": "10" } };
    const steps: Step[] = [failed, ...asking, { text: "Done." }];
    service.model.respondWith(({ userText }) =>
      userText.includes("retry and ask") ? steps.shift() : undefined,
    );
    const session = await create("retry and ask", { mode: "ask" });
    const [item] = await untilAsked(session);
    assert.notEqual(item?.runId, session.runId, "the retry is a run of its own");
    await settle(service, session, item?.id ?? "", { answer: "red" });
    await service.completed(session.statusUrl);
    assert.deepEqual(await resultsOf(session), ["The person answered: red"]);
  });

  it("asks in sub-agents, whose items are listed under the root session and name the sub-agent", async () => {
    scriptByTask(service, {
      "lead the painters": [
        { toolCalls: [spawn({ name: "painter", objective: "choose a colour", browser: "none" })] },
        { toolCalls: [wait()] },
      ],
      "choose a colour": [...asking, { toolCalls: [submit("painted")] }],
    });
    const session = await create("lead the painters", { mode: "ask" }, delegating);
    const [item] = await untilAsked(session);
    assert.deepEqual([item?.sessionId, item?.title], [session.sessionId, "painter: Which colour?"]);
    const [agent] = await readAgents(service, session.sessionId);
    assert.ok(agent);
    assert.equal((await listItems(service, agent))[0]?.id, item?.id);
    assert.equal(
      (await settle(service, agent, item?.id ?? "", { answer: "red" })).status,
      409,
      "through the root",
    );
    assert.equal((await settle(service, session, item?.id ?? "", { answer: "red" })).status, 200);
    await service.completed(session.statusUrl);
    assert.deepEqual((await resultsOf(agent))[0], "The person answered: red");
  });

  it("leaves a person's turn as it is: its questions have their own deadline and never fail the run", async () => {
    scriptByTask(service, { "ask in person": asking });
    const session = await create("say done", { mode: "ask", timeoutSeconds: 10, onTimeout: "fail" });
    await service.completed(session.statusUrl);
    const turn = await sayAsPerson(service, session, { text: "ask in person" });
    const [item] = await untilAsked(session);
    const openMs = Date.parse(item?.expiresAt ?? "") - Date.parse(item?.createdAt ?? "");
    assert.equal(Math.round(openMs / 1_000), 86_400);
    await expire(session);
    await service.completed(turn.statusUrl);
    const end = only(await readEvents(service, session.sessionId), "run.completed").at(-1);
    assert.deepEqual([end?.runId, end?.outcome], [turn.runId, "succeeded"]);
  });

  it("does not bring back a tool that is excluded from turns of programs", async () => {
    scriptByTask(service, { "ask without a tool": asking });
    const tools = { externalTurnExclude: ["elicit_user_input"] };
    const session = await create("ask without a tool", { mode: "ask" }, { tools });
    await service.completed(session.statusUrl);
    const [result] = await resultsOf(session);
    assert.match(result ?? "", /^There is no tool "elicit_user_input"\./);
    assert.deepEqual(await listItems(service, session), []);
  });

  it("with continue, tells the agent that no one answered", async () => {
    scriptByTask(service, { "ask and continue": asking });
    const session = await create("ask and continue", { mode: "ask", timeoutSeconds: 10 });
    await untilAsked(session);
    await expire(session);
    await service.completed(session.statusUrl);
    assert.match((await resultsOf(session))[0] ?? "", /^No person answered in time\./);
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.outcome, "succeeded");
    assert.equal((await onlyItem(service, session)).state, "expired");
  });

  it("with fail, ends the run errored without a retry, and without a further model call", async () => {
    scriptByTask(service, { "ask and fail": asking });
    const session = await create("ask and fail", { mode: "ask", timeoutSeconds: 10, onTimeout: "fail" });
    await untilAsked(session);
    const calls = service.model.requests.length;
    await expire(session);
    await service.completed(session.statusUrl);
    const ends = only(await readEvents(service, session.sessionId), "run.completed");
    assert.deepEqual(
      ends.map(({ outcome, error, willRetry }) => [outcome, error, willRetry]),
      [["errored", "No person answered in time: Which colour?", undefined]],
    );
    assert.equal(service.model.requests.length, calls);
    const late = await settle(service, session, (await onlyItem(service, session)).id, { answer: "red" });
    assert.deepEqual([late.status, late.state], [409, "expired"]);
  });

  it("with fail, a declined question does not fail the run", async () => {
    scriptByTask(service, { "ask and decline": asking });
    const session = await create("ask and decline", { mode: "ask", onTimeout: "fail" });
    const [item] = await untilAsked(session);
    await settle(service, session, item?.id ?? "", { decline: true });
    await service.completed(session.statusUrl);
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.outcome, "succeeded");
    const rows = await service.container.services.db
      .select({ state: elicitations.state })
      .from(elicitations)
      .where(eq(elicitations.sessionId, session.sessionId));
    assert.deepEqual(rows, [{ state: "declined" }]);
  });
});
