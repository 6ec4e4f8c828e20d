import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { runs, sessions } from "#db/schema/index.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { armFaults } from "#lib/faults/fault-point.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { readAgents, scriptByTask, spawn, submit } from "../agents/agents-testing.ts";
import { OTHER_KEY, openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

type BudgetState = {
  usd: number | null;
  tokens: number | null;
  minutes: number | null;
  spent: { usd: number | null; tokens: number; minutes: number };
};

let service: TestService;
before(async () => {
  service = await openTestService({
    SANDBOX: "unconfined",
    MODEL_PRICES: '{ "scripted": { "input": 10, "output": 100, "cachedInput": 1 } }',
  });
});
after(() => service.close());

const shell = (command: string) => ({ name: "run_shell", arguments: { command } });
/** A step that uses 1,000 tokens and calls a tool. */
const work: Step = { toolCalls: [shell("true")], usage: { inputTokens: 900, outputTokens: 100 } };

/** Scripts the model. It takes these steps in every turn, and then answers "Done.". */
const script = (on: TestService, steps: Step[]) =>
  on.model.respondWith(({ answersSoFar }) => steps[answersSoFar] ?? { text: "Done." });

const create = (
  budget: Record<string, number> | undefined,
  more: Record<string, unknown> = {},
  on = service,
) => on.create("go", { capabilities: { browser: false }, ...(budget && { budget }), ...more });

const pathOf = ({ sessionId }: { sessionId: string }) => `/api/sessions/${sessionId}`;

const readParked = async (on: TestService, sessionIds: string[]) => {
  const rows = await on.container.services.db.select().from(runs).where(inArray(runs.sessionId, sessionIds));
  return rows.filter(({ parkedAt }) => parkedAt !== null);
};

const untilParked = (session: { sessionId: string }, on = service) =>
  waitUntil(async () => (await readParked(on, [session.sessionId])).length === 1, "the turn waits");

const readBudget = async (session: { sessionId: string }, on = service) =>
  (await on.read<{ budget: BudgetState | null }>(`${pathOf(session)}/agent/status`)).budget;

async function raise(session: { sessionId: string }, change: Record<string, number | null>, on = service) {
  const response = await on.call("PATCH", `${pathOf(session)}/budget`, change);
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { budget: BudgetState }).budget;
}

const TOKENS_SENTENCE =
  "The session's budget of 1,500 tokens is used up (2,000 spent). The turn continues when the budget is raised.";

describe("a session whose budget is used up", () => {
  it("waits before the next model call, and continues as the same run when the budget is raised", async () => {
    script(service, [work, work]);
    const callsBefore = service.model.requests.length;
    const session = await create({ tokens: 1_500 });
    await untilParked(session);
    assert.equal(service.model.requests.length - callsBefore, 2);

    const status = await readStatus(service, session.sessionId);
    const { since, ...waitingOn } = status.waitingOn ?? {};
    assert.deepEqual(waitingOn, { kind: "budget", ids: [], until: null, reason: TOKENS_SENTENCE });
    assert.deepEqual([status.turnState, status.activeRunId], ["running", session.runId]);
    const { spent, ...limits } = (await readBudget(session)) ?? assert.fail();
    assert.deepEqual(limits, { usd: null, tokens: 1_500, minutes: null });
    assert.equal(spent.tokens, 2_000);
    const { session: read } = await service.read<{ session: { state: string; stateReason: string } }>(
      pathOf(session),
    );
    assert.deepEqual([read.state, read.stateReason], ["waiting", TOKENS_SENTENCE]);

    assert.equal((await raise(session, { tokens: 5_000 })).tokens, 5_000);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "turn.waiting").map(({ waitingOn }) => waitingOn.reason),
      [TOKENS_SENTENCE],
    );
    assert.equal(since, only(events, "turn.waiting")[0]?.waitingOn.since);
    assert.deepEqual(
      only(events, "turn.resumed").map(({ reason }) => reason),
      ["settled"],
    );
    assert.equal(only(events, "tool.result").length, 2, "no tool ran twice");
    assert.deepEqual(
      only(events, "run.completed").map(({ runId, outcome }) => [runId, outcome]),
      [[session.runId, "succeeded"]],
    );
  });

  it("continues after the next sweep if the process fails between the raise and the wake", async () => {
    script(service, [work, work]);
    const session = await create({ tokens: 1_500 });
    await untilParked(session);
    armFaults({ point: "budget-stored", nth: 1, action: "throw", afterMs: 0 });
    const response = await service.call("PATCH", `${pathOf(session)}/budget`, { tokens: 5_000 });
    armFaults(undefined);
    assert.equal(response.status, 500);
    assert.equal((await readParked(service, [session.sessionId])).length, 1);
    const { db, log, jobs, logger } = service.container.services;
    assert.equal(await endOverdueWaits({ db, log, jobs, logger }), 1);
    await service.completed(session.statusUrl);
  });

  it("still waits after a raise that is too small, without resuming", async () => {
    script(service, [work, work]);
    const session = await create({ tokens: 1_500 });
    await untilParked(session);
    await raise(session, { tokens: 1_600 });
    const readWaits = async () => only(await readEvents(service, session.sessionId), "turn.waiting");
    await waitUntil(async () => (await readWaits()).length === 2, "the turn waits again");
    assert.match((await readWaits())[1]?.waitingOn.reason ?? "", /budget of 1,600 tokens/);
    // Another limit that is used up, and a lower limit, do not suffice either.
    await raise(session, { tokens: 50_000, usd: 0.001 });
    await raise(session, { tokens: 1_000 });
    const status = await service.read<{ waitingOn: { reason: string } }>(`${pathOf(session)}/agent/status`);
    assert.match(status.waitingOn.reason, /budget of \$0\.001 is used up/);
    const resumed = async () => only(await readEvents(service, session.sessionId), "turn.resumed");
    assert.deepEqual(await resumed(), []);
    assert.equal((await readParked(service, [session.sessionId])).length, 1);
    await raise(session, { tokens: null, usd: null });
    await service.completed(session.statusUrl);
    assert.equal((await resumed()).length, 1);
    assert.equal(await readBudget(session), null);
  });

  it("reads a steer, and then waits again", async () => {
    script(service, [work, work]);
    const session = await create({ tokens: 1_500 });
    await untilParked(session);
    const path = `${pathOf(session)}/agent/messages`;
    const answer = await service.call("POST", path, { text: "Be brief.", mode: "steer" });
    assert.equal(answer.status, 202);
    const readWaits = async () => only(await readEvents(service, session.sessionId), "turn.waiting").length;
    await waitUntil(async () => (await readWaits()) === 2, "the turn waits again");
    assert.equal(only(await readEvents(service, session.sessionId), "turn.steered").length, 1);
    await raise(session, { tokens: 10_000 });
    await service.completed(session.statusUrl);
    assert.match(service.model.requests.at(-1)?.text ?? "", /Be brief\./);
  });

  it("begins a further turn without a model call, and waits until the budget allows one", async () => {
    script(service, [{ text: "Done.", usage: { inputTokens: 900, outputTokens: 100 } }]);
    const session = await create({ tokens: 1_000 });
    await service.completed(session.statusUrl);
    const calls = service.model.requests.length;
    const answer = await service.call("POST", `${pathOf(session)}/agent/messages`, { text: "More" });
    const { statusUrl } = (await answer.json()) as { statusUrl: string };
    await untilParked(session);
    assert.equal(service.model.requests.length, calls);
    await raise(session, { tokens: 3_000 });
    await service.completed(statusUrl);
    assert.equal((await readBudget(session))?.spent.tokens, 2_000);
  });

  it("can be stopped", async () => {
    script(service, [work]);
    const session = await create({ tokens: 1_000 });
    await untilParked(session);
    assert.equal((await service.call("POST", `${pathOf(session)}/agent/cancel`)).status, 202);
    await service.completed(session.statusUrl);
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.outcome, "cancelled");
  });

  it("waits before the collection of a structured result, and before the probe of the next turn", async () => {
    const outputSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const usage = { inputTokens: 900, outputTokens: 100 };
    service.model.respondWith(({ kind }) =>
      kind === "structured"
        ? { json: { ok: true }, usage }
        : kind === "probe"
          ? undefined
          : { text: "Looked.", usage },
    );
    const session = await create({ tokens: 1_000 }, { outputSchema });
    await untilParked(session);
    const { deliverable } = await readStatus(service, session.sessionId);
    assert.equal(deliverable?.status, "pending");
    await raise(session, { tokens: 2_000 });
    await service.completed(session.statusUrl);
    assert.equal((await readStatus(service, session.sessionId)).deliverable?.status, "ready");
    const calls = service.model.requests.length;
    await service.call("POST", `${pathOf(session)}/agent/messages`, { text: "More" });
    await untilParked(session);
    assert.equal(service.model.requests.length, calls);
  });
});

describe("the amount spent", () => {
  it("is the price of input, cached input and output", async () => {
    const usage = { inputTokens: 100_000, cachedInputTokens: 50_000, outputTokens: 10_000 };
    script(service, [{ ...work, usage }]);
    const session = await create({ usd: 1.5 });
    await untilParked(session);
    const status = await readStatus(service, session.sessionId);
    assert.match(JSON.stringify(status.waitingOn), /budget of \$1\.50 is used up \(\$1\.55 spent\)/);
    assert.equal((await readBudget(session))?.spent.usd, 1.55);
    await raise(session, { usd: 1.6 });
    await service.completed(session.statusUrl);
  });

  it("is the working time, without the time that the turn waits", async () => {
    script(service, [{ toolCalls: [shell("sleep 0.5")] }]);
    const session = await create({ minutes: 0.005 });
    await untilParked(session);
    const spent = (await readBudget(session))?.spent.minutes ?? 0;
    assert.ok(spent >= 0.008 && spent < 0.1, `${spent} minutes`);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await raise(session, { minutes: 1 });
    await service.completed(session.statusUrl);
    const after = (await readBudget(session))?.spent.minutes ?? 0;
    assert.ok(after - spent < 0.02, `${after - spent} minutes more`);
  });

  it("includes the working time of a model call that fails", async () => {
    script(service, [{ delayMs: 600, status: 400, message: "Bad request." }]);
    const session = await create({ minutes: 1 });
    await service.completed(session.statusUrl);
    const spent = (await readBudget(session))?.spent.minutes ?? 0;
    assert.ok(spent >= 0.01 && spent < 0.1, `${spent} minutes`);
  });

  it("includes sub-agents, which wait too and continue when the root's budget is raised", async () => {
    const usage = { inputTokens: 900, outputTokens: 100 };
    scriptByTask(service, {
      go: [
        { toolCalls: [spawn({ name: "reader", objective: "read-it" })], usage },
        { text: "All read.", usage },
      ],
      "read-it": [
        { toolCalls: [shell("true")], usage },
        { toolCalls: [submit("read")], usage },
      ],
    });
    const session = await create({ tokens: 1_500 }, { subAgents: true });
    const readChild = async () => (await readAgents(service, session.sessionId))[0]?.sessionId;
    await waitUntil(async () => (await readChild()) !== undefined, "it delegates");
    const child = { sessionId: (await readChild()) ?? "" };
    // The first model calls of the session and of its sub-agent use 2,000 tokens, which exceeds the budget. Therefore,
    // the sub-agent is parked before its second call.
    await untilParked(child);
    assert.equal((await readStatus(service, child.sessionId)).waitingOn?.kind, "budget");
    const refused = await service.call("PATCH", `${pathOf(child)}/budget`, { tokens: 9_000 });
    assert.equal(refused.status, 409);
    const readBudgetOf = async () =>
      (await service.read<{ budget: BudgetState }>(`${pathOf(child)}/budget`)).budget;
    assert.equal((await readBudgetOf()).tokens, 1_500);
    // What the session has spent is stored with the step in which it delegates. The sub-agent may be parked before that.
    await waitUntil(async () => (await readBudgetOf()).spent.tokens >= 2_000, "both model calls are counted");
    await raise(session, { tokens: 100_000 });
    await service.completed(session.statusUrl);
    const [row] = await readAgents(service, session.sessionId);
    assert.deepEqual([row?.outcome, row?.result], ["succeeded", { value: "read" }]);
    const spent = (await service.read<{ budget: BudgetState }>(`${pathOf(session)}/budget`)).budget.spent;
    assert.ok(spent.tokens >= 4_000, `${spent.tokens} tokens`);
  });

  it("is recorded without a budget too, so a budget that is set later counts from the beginning", async () => {
    script(service, [work]);
    const session = await create(undefined);
    await service.completed(session.statusUrl);
    assert.equal(await readBudget(session), null);
    const { spent } = await raise(session, { tokens: 1_000 });
    assert.ok(spent.tokens > 1_000, `${spent.tokens} tokens`);
  });
});

describe("a change of the budget", () => {
  /** Starts a turn whose first tool call ends only after `open` is called. */
  async function startGated(budget: Record<string, number> | undefined) {
    const gate = join(service.dataDir, `gate-${Math.random()}`);
    script(service, [{ ...work, toolCalls: [shell(`until [ -e ${gate} ]; do sleep 0.05; done`)] }, work]);
    const session = await create(budget);
    const isCalled = async () => only(await readEvents(service, session.sessionId), "tool.call").length === 1;
    await waitUntil(isCalled, "the tool runs");
    return { session, open: () => writeFile(gate, "") };
  }

  it("during a turn applies before its next model call", async () => {
    const { session, open } = await startGated(undefined);
    await raise(session, { tokens: 500 });
    await open();
    await untilParked(session);
    await raise(session, { tokens: null });
    await service.completed(session.statusUrl);
  });

  it("without a notification of the executor is found before the turn is parked", async () => {
    const { session, open } = await startGated({ tokens: 500 });
    const { db } = service.container.services;
    await db
      .update(sessions)
      .set({ budget: { tokens: 50_000 } })
      .where(eq(sessions.id, session.sessionId));
    await open();
    await service.completed(session.statusUrl);
    assert.deepEqual(only(await readEvents(service, session.sessionId), "turn.waiting"), []);
  });
});

describe("a budget that cannot be used", () => {
  const refuse = async (method: string, path: string, body: unknown, on = service) => {
    const response = await on.call(method, path, body);
    assert.equal(response.status, 400);
    return ((await response.json()) as { error: string }).error;
  };
  const creation = (budget: unknown, on = service) =>
    refuse(
      "POST",
      "/api/session",
      { messages: [{ role: "user", parts: [{ type: "text", text: "go" }] }], budget },
      on,
    );

  it("is refused with a sentence that names the field", async () => {
    assert.equal(await creation({ tokens: 0 }), "budget.tokens: must be an integer >= 1");
    assert.equal(await creation({ tokens: 1.5 }), "budget.tokens: must be an integer >= 1");
    assert.equal(await creation({ minutes: "ten" }), "budget.minutes: must be a number of minutes > 0");
    assert.equal(await creation({ usd: -1 }), "budget.usd: must be a number of US dollars > 0");
    assert.match(await creation({ dollars: 1 }), /budget\.dollars|budget: .*dollars/);
    assert.match(await creation(null), /^budget: /);
    script(service, []);
    const session = await create(undefined);
    assert.equal(
      await refuse("PATCH", `${pathOf(session)}/budget`, { tokens: -1 }),
      "tokens: must be an integer >= 1",
    );
    await service.completed(session.statusUrl);
  });
});

describe("a service without prices, with a budget per owner", () => {
  let owned: TestService;
  before(async () => {
    owned = await openTestService({ SANDBOX: "unconfined", OWNER_BUDGET_TOKENS_PER_DAY: "2500" });
  });
  after(() => owned.close());

  it("refuses a limit in US dollars with 400 and the field", async () => {
    const messages = [{ role: "user", parts: [{ type: "text", text: "go" }] }];
    const created = await owned.call("POST", "/api/session", { messages, budget: { usd: 1 } });
    assert.equal(created.status, 400);
    const sentence = "the price of scripted is not known; the operator sets it with MODEL_PRICES";
    assert.equal(((await created.json()) as { error: string }).error, `budget.usd: ${sentence}`);
  });

  it("lets all sessions of an owner wait until midnight UTC when the owner's daily budget is used up", async () => {
    script(owned, [work, work]);
    const [one, two] = [await create(undefined, {}, owned), await create(undefined, {}, owned)];
    const isOver = async () => (await readParked(owned, [one.sessionId, two.sessionId])).length > 0;
    await waitUntil(isOver, "a turn waits");
    const [parked] = await readParked(owned, [one.sessionId, two.sessionId]);
    const { waitingOn } = await readStatus(owned, parked?.sessionId ?? "");
    assert.match(
      JSON.stringify(waitingOn),
      /The owner's budget of 2,500 tokens a day is used up \([34],\d{3} spent\)\. The turn continues at midnight UTC\./,
    );
    const until = new Date(waitingOn?.until ?? "");
    assert.ok(until > new Date() && until.getTime() - Date.now() <= 86_400_000);
    assert.equal(until.toISOString().slice(11), "00:00:00.000Z");

    const other = await owned.call(
      "POST",
      "/api/session",
      {
        messages: [{ role: "user", parts: [{ type: "text", text: "go" }] }],
        capabilities: { browser: false },
      },
      { authorization: `Bearer ${OTHER_KEY}` },
    );
    const { sessionId } = (await other.json()) as { sessionId: string };
    const isDone = async () => {
      const [run] = await owned.container.services.db
        .select()
        .from(runs)
        .where(eq(runs.sessionId, sessionId));
      return run?.state === "succeeded";
    };
    await waitUntil(isDone, "another owner's turn is played");

    // The sweep wakes the turn as if it were midnight. The budget of the real day is still used up, so the turn waits
    // again.
    const readWaits = async () =>
      only(await readEvents(owned, parked?.sessionId ?? ""), "turn.waiting").length;
    await endOverdueWaits(owned.container.services, until);
    await waitUntil(async () => (await readWaits()) === 2, "the turn waits again");
  });
});

describe("a raise while the owner's daily budget is used up", () => {
  let owned: TestService;
  before(async () => {
    owned = await openTestService({ SANDBOX: "unconfined", OWNER_BUDGET_TOKENS_PER_DAY: "2500" });
  });
  after(() => owned.close());

  it("does not resume the turn, which then waits for the owner's budget, in every order of changes", async () => {
    scriptByTask(owned, {
      small: [work, work],
      large: [{ ...work, usage: { inputTokens: 1_900, outputTokens: 100 } }],
    });
    const capabilities = { browser: false };
    const small = await owned.create("small", { capabilities, budget: { tokens: 1_000 } });
    await untilParked(small, owned);
    const large = await owned.create("large", { capabilities });
    await untilParked(large, owned);
    const calls = owned.model.requests.length;
    const readWaits = async ({ sessionId }: { sessionId: string }) =>
      only(await readEvents(owned, sessionId), "turn.waiting").map(({ waitingOn }) =>
        waitingOn.kind === "budget" ? [waitingOn.reason, waitingOn.until?.slice(11) ?? null] : [],
      );
    const ofSession = [/^The session's budget of 1,000 tokens is used up/, null] as const;
    const ofOwner = [/^The owner's budget of 2,500 tokens a day is used up/, "00:00:00.000Z"] as const;
    const expectWaits = async (
      session: { sessionId: string },
      expected: (readonly [RegExp, string | null])[],
    ) => {
      const waits = await readWaits(session);
      assert.deepEqual(
        waits.map(([, until]) => until),
        expected.map(([, until]) => until),
      );
      for (const [index, [reason]] of expected.entries()) assert.match(String(waits[index]?.[0]), reason);
    };
    await raise(small, { tokens: 50_000 }, owned);
    await expectWaits(small, [ofSession, ofOwner]);
    // Another raise changes nothing, and nothing is told again.
    await raise(small, { tokens: 60_000 }, owned);
    await expectWaits(small, [ofSession, ofOwner]);
    // A budget that is lowered below the spend is the reason again, also for a turn that waits for its owner.
    await raise(small, { tokens: 1_000 }, owned);
    await expectWaits(small, [ofSession, ofOwner, ofSession]);
    await raise(large, { tokens: 1_000 }, owned);
    await expectWaits(large, [ofOwner, ofSession]);
    await raise(large, { tokens: null }, owned);
    await expectWaits(large, [ofOwner, ofSession, ofOwner]);
    for (const { sessionId } of [small, large])
      assert.deepEqual(only(await readEvents(owned, sessionId), "turn.resumed"), []);
    assert.equal(owned.model.requests.length, calls);
  });
});
