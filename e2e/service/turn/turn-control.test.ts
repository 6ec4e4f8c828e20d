import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, like, sql } from "drizzle-orm";
import { toolCalls as calls, engineEvents, engineRuns, runs } from "#db/schema/index.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

const forever = () => new Promise<void>(() => {});
const turn = () => service.container.services.turn;
const isAsked = (words: string) => service.model.waitForRequest(({ userText }) => userText.includes(words));

const answer = (steps: Record<string, Step[]>) => {
  const queues = Object.entries(steps).map(([words, queue]) => ({ words, queue: [...queue] }));
  service.model.respondWith(({ userText }) =>
    queues.find(({ words }) => userText.includes(words))?.queue.shift(),
  );
};

async function follow(sessionId: string, text: string) {
  const response = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
  assert.equal(response.status, 202);
  return (await response.json()) as { requestId: string; runId: string; statusUrl: string; queued: boolean };
}

const cancel = (sessionId: string) => service.call("POST", `/api/sessions/${sessionId}/agent/cancel`);

/** Reads the states of the engine's function runs that play this run. */
async function readEngine(runId: string): Promise<string[]> {
  const found = await service.container.services.db
    .select({ state: engineRuns.state })
    .from(engineRuns)
    .innerJoin(engineEvents, eq(engineEvents.id, engineRuns.eventId))
    .where(like(engineEvents.id, `${runId}:%`));
  return found.map(({ state }) => state);
}

/** Stores a stop request without notifying this process, to simulate a request to another process. */
const requestStop = (runId: string) =>
  service.container.services.db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, runId));

/**
 * Starts a run whose model call is held back until `release` is called. Meanwhile another executor takes over the run,
 * so the first executor is stale.
 */
async function takeOver(words: string, first: Step = { text: "From the stale one." }) {
  const gate = Promise.withResolvers<void>();
  answer({ [words]: [{ ...first, hold: gate.promise }, { text: "From the new one." }] });
  const session = await service.create(words);
  await isAsked(words);
  const { db } = service.container.services;
  await db.update(runs).set({ epoch: sql`epoch + 1`, player: "another" }).where(eq(runs.id, session.runId));
  return { ...session, release: gate.resolve };
}

const hasGivenUp = (runId: string) =>
  waitUntil(async () => (await readEngine(runId)).includes("failed"), "the stale executor has given up");

describe("a stop", () => {
  it("ends a model call at once, and the next message is played", async () => {
    answer({ "stop the model": [{ text: "On and on.", hold: forever() }], "go on": [{ text: "Gone on." }] });
    const session = await service.create("stop the model");
    const request = await isAsked("stop the model");
    const { log } = service.container.services;
    await waitUntil(() => log.readUnfinished(session.sessionId).length > 0, "the text streams");
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    await waitUntil(() => request.outcome === "client-left", "the call was aborted");
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["cancelled"],
    );
    assert.equal(only(events, "message.completed").length, 1, "the partial answer is not stored");
    await service.completed((await follow(session.sessionId, "go on")).statusUrl);
    assert.equal((await readStatus(service, session.sessionId)).lastRun?.outcome, "succeeded");
  });

  it("right after the 201 ends the turn as it starts, with its message in the transcript", async () => {
    service.model.respondWith(() => ({ text: "Too late.", hold: forever() }));
    const session = await service.create("stop before it starts");
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    const kinds = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
    // The stop is recorded before or after the start.
    const others = kinds.filter((kind) => kind !== "turn.stopping");
    assert.deepEqual(others, ["run.started", "message.completed", "run.completed"]);
    const status = await readStatus(service, session.sessionId);
    assert.deepEqual([status.lastRunId, status.lastRun?.outcome], [session.runId, "cancelled"]);
  });

  it("has an event that says who stopped the turn, once", async () => {
    service.model.respondWith(({ userText }) => ({
      text: "Working.",
      ...(userText.includes("who stops") && { hold: forever() }),
    }));
    const { sessionId, shareUrl, statusUrl } = await service.create("who stops");
    const link = await service.call("POST", `/api/sessions/${sessionId}/share-links`, {
      role: "drive",
      label: "QA team",
    });
    const labelled = ((await link.json()) as { shareUrl: string }).shareUrl;
    const stopAs = (url: string) =>
      service.call(
        "POST",
        `/s/${sessionId}/actions/cancel`,
        {},
        {
          authorization: "",
          cookie: `share=${new URL(url, service.env.baseUrl).searchParams.get("key")}`,
          origin: service.env.baseUrl,
        },
      );
    await Promise.all([stopAs(labelled), stopAs(labelled)]);
    await service.completed(statusUrl);
    for (const stop of [() => stopAs(shareUrl), () => cancel(sessionId)]) {
      const { statusUrl: followed } = await follow(sessionId, "who stops");
      assert.equal((await stop()).status, 202);
      await service.completed(followed);
    }
    const interrupted = await follow(sessionId, "who stops");
    await waitUntil(
      async () =>
        only(await readEvents(service, sessionId), "run.started").some(
          ({ runId }) => runId === interrupted.runId,
        ),
      "the turn runs",
    );
    const path = `/api/sessions/${sessionId}/agent/messages`;
    await service.call("POST", path, { text: "go on", mode: "interrupt" });
    await service.completed(interrupted.statusUrl);
    const stops = only(await readEvents(service, sessionId), "turn.stopping");
    assert.deepEqual(
      stops.map(({ by, name }) => ({ by, name })),
      [
        { by: "person", name: "QA team" },
        { by: "person", name: null },
        { by: "program", name: null },
        { by: "message", name: null },
      ],
    );
  });

  it("ends a tool call, and all calls have results before the next message reaches the model", async () => {
    const shell = (command: string) => ({ name: "run_shell", arguments: { command } });
    answer({
      "stop the tool": [
        { toolCalls: [shell("echo up > up.txt; sleep 60"), shell("echo never > never.txt")] },
      ],
      "what happened": [{ text: "It was stopped." }],
    });
    const session = await service.create("stop the tool");
    await waitUntil(
      async () => only(await readEvents(service, session.sessionId), "tool.call").length === 2,
      "the command runs",
    );
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["cancelled"],
    );
    assert.ok(only(events, "tool.result").length <= 1, "the second command never ran");
    await service.completed((await follow(session.sessionId, "what happened?")).statusUrl);
    assert.equal((await readStatus(service, session.sessionId)).lastRun?.outcome, "succeeded");
  });

  it("ends a chain of retries that waits for the next run", async () => {
    const later = { status: 503, message: "overloaded", headers: { "retry-after": "60" } };
    answer({ "stop the chain": [later, { text: "Too late." }] });
    const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const session = await service.create("stop the chain", { outputSchema });
    await waitUntil(
      async () => (await readStatus(service, session.sessionId)).lastRun?.outcome === "errored",
      "the retry waits",
    );
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["errored", "cancelled"],
    );
    const status = await readStatus(service, session.sessionId);
    const retryId = only(events, "run.completed").at(-1)?.runId;
    const deliverable = { runId: retryId, status: "failed", error: "the turn was stopped" };
    assert.deepEqual(
      [status.turnState, status.lastRunId, status.lastRun, status.deliverable],
      ["idle", retryId, { outcome: "cancelled", error: null }, deliverable],
    );
    const { session: listed } = await service.read<{ session: { state: string } }>(
      `/api/sessions/${session.sessionId}`,
    );
    assert.equal(listed.state, "stopped");
    const messages = only(events, "message.completed").map(({ message }) => message);
    assert.deepEqual(messages.at(-1)?.parts.at(-1), { type: "data-deliverable", data: deliverable });
  });

  it("during the failing call of a run prevents a retry", async () => {
    const gate = Promise.withResolvers<void>();
    answer({ "fail while stopped": [{ status: 503, message: "overloaded", hold: gate.promise }] });
    const session = await service.create("fail while stopped");
    await isAsked("fail while stopped");
    await requestStop(session.runId);
    gate.resolve();
    await service.completed(session.statusUrl);
    const ends = only(await readEvents(service, session.sessionId), "run.completed");
    assert.deepEqual(
      ends.map(({ willRetry }) => willRetry),
      [undefined],
    );
    assert.equal((await readStatus(service, session.sessionId)).turnState, "idle");
  });

  it("of a run that has just failed cancels its retry", async () => {
    const later = { status: 503, message: "overloaded", headers: { "retry-after": "60" } };
    answer({ "stop the failed": [later, { text: "Too late." }] });
    const session = await service.create("stop the failed");
    await waitUntil(
      async () => (await readStatus(service, session.sessionId)).lastRun?.outcome === "errored",
      "the retry waits",
    );
    await turn().stopRun(session.runId);
    assert.deepEqual(
      only(await readEvents(service, session.sessionId), "run.completed").map(({ outcome }) => outcome),
      ["errored", "cancelled"],
    );
  });

  it("that was requested before the process ended is applied by the next process", async () => {
    const { runId, sessionId, release } = await takeOver("stop across");
    await requestStop(runId);
    const requestCount = service.model.requests.length;
    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), { status: "ended" });
    assert.equal(service.model.requests.length, requestCount, "a stopped turn makes no model call");
    const [end] = only(await readEvents(service, sessionId), "run.completed");
    assert.equal(end?.outcome, "cancelled");
    release();
    await hasGivenUp(runId);
  });

  it("reports a call that an ended process had started as unknown", async () => {
    const toolCalls = [{ name: "run_shell", arguments: { command: "sleep 2" } }];
    answer({ "stop a lost call": [{ toolCalls }] });
    const { runId, sessionId } = await service.create("stop a lost call");
    const { db } = service.container.services;
    const readCalls = () => db.select().from(calls).where(eq(calls.runId, runId));
    await waitUntil(async () => (await readCalls()).length === 1, "the call has begun");
    await db.update(runs).set({ epoch: sql`epoch + 1`, player: "another" }).where(eq(runs.id, runId));
    await requestStop(runId);
    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), { status: "ended" });
    const [call] = await readCalls();
    assert.equal(call?.state, "unknown");
    const events = await readEvents(service, sessionId);
    assert.equal(only(events, "tool.result")[0]?.state, "unknown");
    assert.equal(only(events, "run.completed")[0]?.outcome, "cancelled");
  });
});

describe("an executor whose claim is over", () => {
  it("writes nothing, and the executor that took over the run continues it", async () => {
    const { runId, sessionId, release } = await takeOver("stale");
    release();
    await hasGivenUp(runId);
    const before = await readEvents(service, sessionId);
    assert.deepEqual(
      before.map(({ kind }) => kind),
      ["run.started", "message.completed"],
    );
    assert.equal((await readStatus(service, sessionId)).turnState, "running", "the run is still open");

    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), { status: "ended" });
    const events = await readEvents(service, sessionId);
    assert.doesNotMatch(JSON.stringify(events), /stale one/);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["succeeded"],
    );
  });

  it("starts no tool call", async () => {
    const call = { name: "write_file", arguments: { path: "stale.txt", content: "stale" } };
    const { runId, sessionId, release } = await takeOver("stale tool", { toolCalls: [call] });
    release();
    await hasGivenUp(runId);
    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), { status: "ended" });
    assert.deepEqual(only(await readEvents(service, sessionId), "tool.call"), []);
  });
});

describe("a run", () => {
  it("is not claimed by an outdated job", async () => {
    const { runId, sessionId, release } = await takeOver("newer");
    await turn().handOver(runId, 1);
    assert.deepEqual(await turn().play({ runId, generation: 1, player: "another" }), {
      status: "not_claimable",
    });
    release();
    await waitUntil(
      async () => only(await readEvents(service, sessionId), "run.completed").length === 1,
      "the newer job plays it",
    );
  });

  it("does nothing if it is played again after its end", async () => {
    answer({ twice: [{ text: "Once." }] });
    const session = await service.create("twice");
    await service.completed(session.statusUrl);
    const requestCount = service.model.requests.length;
    assert.deepEqual(await turn().play({ runId: session.runId, generation: 1, player: "another" }), {
      status: "not_claimable",
    });
    assert.equal(service.model.requests.length, requestCount);
    const kinds = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["run.started", "message.completed", "message.completed", "run.completed"]);
  });
});

describe("the queue", () => {
  it("loses no message that is accepted while the last run closes", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const session = await service.create(`close and accept ${index}`);
        await isAsked(`close and accept ${index}`);
        const messages = await Promise.all([1, 2].map((each) => follow(session.sessionId, `then ${each}`)));
        for (const { statusUrl } of messages) await service.completed(statusUrl);
        const starts = only(await readEvents(service, session.sessionId), "run.started");
        assert.equal(starts.length, 3);
      }),
    );
  });

  it("allows the removal of a message, whose request then ends as cancelled outside the transcript", async () => {
    const gate = Promise.withResolvers<void>();
    answer({ hold: [{ text: "First.", hold: gate.promise }], last: [{ text: "Last." }] });
    const session = await service.create("hold");
    await isAsked("hold");
    const removed = await follow(session.sessionId, "take me back");
    const last = await follow(session.sessionId, "last");
    assert.equal(await turn().removeQueued(removed.runId), true);
    assert.equal(
      await turn().removeQueued(removed.runId),
      false,
      "a removed message cannot be removed again",
    );
    assert.equal(await turn().removeQueued(session.runId), false, "a started message cannot be removed");
    gate.resolve();
    await service.completed(last.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ requestId, outcome }) => [requestId, outcome]),
      [
        [removed.requestId, "cancelled"],
        [session.requestId, "succeeded"],
        [last.requestId, "succeeded"],
      ],
    );
    assert.doesNotMatch(JSON.stringify(only(events, "message.completed")), /take me back/);
    assert.doesNotMatch(service.model.requests.at(-1)?.text ?? "", /take me back/);
    assert.equal((await readEngine(last.runId)).length, 1, "the job was sent once");
  });

  it("continues after a run that its executor has abandoned", async () => {
    const { runId, sessionId, release } = await takeOver("give up");
    answer({ "after that": [{ text: "Here." }] });
    const next = await follow(sessionId, "after that");
    await turn().abandon({ runId, generation: 1, player: "another" }, "the test says so");
    release();
    await service.completed(next.statusUrl);
    assert.deepEqual(
      only(await readEvents(service, sessionId), "run.completed").map(({ outcome }) => outcome),
      ["errored", "succeeded"],
    );
  });
});
