import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, like } from "drizzle-orm";
import { engineEvents, engineRuns, runs } from "#db/schema/index.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { Claim } from "#lib/turn/claim.ts";
import { openTestService, type TestService, waitUntil } from "./testing.ts";
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

/** How the engine's runs for a run of ours stand. */
async function readEngine(runId: string): Promise<string[]> {
  const found = await service.container.services.db
    .select({ state: engineRuns.state })
    .from(engineRuns)
    .innerJoin(engineEvents, eq(engineEvents.id, engineRuns.eventId))
    .where(like(engineEvents.id, `${runId}:%`));
  return found.map(({ state }) => state);
}

/** Notes a wish to stop as another process would: nothing in this one hears of it. */
const requestStop = (runId: string) =>
  service.container.services.db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, runId));

/** A run whose model call hangs, taken over by hand; the executor that began it is stale. */
async function takeOver(words: string): Promise<{ claim: Claim; sessionId: string; release: () => void }> {
  const held = Promise.withResolvers<void>();
  answer({ [words]: [{ text: "From the stale one.", hold: held.promise }, { text: "From the new one." }] });
  const session = await service.create(words);
  await isAsked(words);
  const claimed = await turn().claim(session.runId);
  assert.ok(claimed.status === "claimed");
  return { claim: claimed.claim, sessionId: session.sessionId, release: held.resolve };
}

describe("a stop", () => {
  it("ends a model call at once; the next message is played", async () => {
    answer({ "stop the model": [{ text: "On and on.", hold: forever() }], "go on": [{ text: "Gone on." }] });
    const session = await service.create("stop the model");
    const request = await isAsked("stop the model");
    const { log } = service.container.services;
    await waitUntil(() => log.readUnfinished(session.sessionId).length > 0, "the text streams");
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    await waitUntil(() => request.outcome === "client-left", "the call was given up");
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["cancelled"],
    );
    assert.equal(only(events, "message.completed").length, 1, "nothing is kept of half an answer");
    await service.completed((await follow(session.sessionId, "go on")).statusUrl);
    assert.equal((await readStatus(service, session.sessionId)).lastRun?.outcome, "succeeded");
  });

  it("right after the 201 ends the turn as it begins: the message stands in the transcript, with an end", async () => {
    service.model.respondWith(() => ({ text: "Too late.", hold: forever() }));
    const session = await service.create("stop before it starts");
    await cancel(session.sessionId);
    await service.completed(session.statusUrl);
    const kinds = (await readEvents(service, session.sessionId)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["run.started", "message.completed", "run.completed"]);
    const status = await readStatus(service, session.sessionId);
    assert.deepEqual([status.lastRunId, status.lastRun?.outcome], [session.runId, "cancelled"]);
  });

  it("ends a tool; its calls are settled before the next message reaches the model", async () => {
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

  it("ends a chain of retries that waits", async () => {
    const later = { status: 503, message: "overloaded", headers: { "retry-after": "60" } };
    answer({ "stop the chain": [later, { text: "Too late." }] });
    const session = await service.create("stop the chain");
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
    assert.equal((await readStatus(service, session.sessionId)).turnState, "idle");
  });

  it("that comes while a run fails is not undone by a retry", async () => {
    const { claim, sessionId, release } = await takeOver("fail while stopped");
    // The wish is noted after the failure was recorded and before the run is closed.
    await requestStop(claim.runId);
    await turn().close(claim, { kind: "failed", failure: { message: "overloaded", isRetryable: true } });
    release();
    const [end] = only(await readEvents(service, sessionId), "run.completed");
    assert.deepEqual([end?.outcome, end?.willRetry], ["errored", undefined]);
    assert.equal((await readStatus(service, sessionId)).turnState, "idle");
  });

  it("of a run that has just failed stops the retry that follows", async () => {
    const { claim, sessionId, release } = await takeOver("stop the failed");
    const failure = { message: "overloaded", isRetryable: true, retryAfterMs: 60_000 };
    await turn().close(claim, { kind: "failed", failure });
    await turn().stopRun(claim.runId);
    release();
    const ends = only(await readEvents(service, sessionId), "run.completed");
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ["errored", "cancelled"],
    );
  });

  it("asked for in a process that is gone is heard by the next", async () => {
    const { claim, release } = await takeOver("stop across");
    await requestStop(claim.runId);
    const asked = service.model.requests.length;
    assert.deepEqual(await turn().callModel(claim, 1), { kind: "stopped" });
    assert.equal(service.model.requests.length, asked, "no call is made for a stopped turn");
    await turn().close(claim, { kind: "stopped" });
    release();
  });
});

describe("an executor whose claim is over", () => {
  it("writes nothing, and the run goes on with the one that took it over", async () => {
    const { claim, sessionId, release } = await takeOver("stale");
    release();
    await waitUntil(
      async () => (await readEngine(claim.runId)).includes("failed"),
      "the stale executor has given up",
    );
    const before = await readEvents(service, sessionId);
    assert.deepEqual(
      before.map(({ kind }) => kind),
      ["run.started", "message.completed"],
    );
    assert.equal((await readStatus(service, sessionId)).turnState, "running", "nobody closed the run");

    assert.deepEqual(await turn().callModel(claim, 1), { kind: "finished" });
    await turn().close(claim, { kind: "finished" });
    const events = await readEvents(service, sessionId);
    assert.doesNotMatch(JSON.stringify(events), /stale one/);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["succeeded"],
    );
  });

  it("starts no tool", async () => {
    const { claim, release } = await takeOver("stale tool");
    const stale = { ...claim, epoch: claim.epoch - 1 };
    release();
    await assert.rejects(
      turn()
        .open({ ...stale, runId: claim.runId })
        .then(() => turn().callModel(stale, 1)),
      {
        name: "StaleClaimError",
      },
    );
    await turn().close(claim, { kind: "stopped" });
  });
});

describe("a step", () => {
  it("that is played again does nothing again", async () => {
    const { claim, sessionId, release } = await takeOver("twice");
    release();
    await turn().open(claim);
    await turn().callModel(claim, 1);
    const asked = service.model.requests.length;
    assert.deepEqual(await turn().callModel(claim, 1), { kind: "finished" });
    assert.equal(service.model.requests.length, asked);
    await turn().close(claim, { kind: "finished" });
    await turn().close(claim, { kind: "finished" });
    const kinds = (await readEvents(service, sessionId)).map(({ kind }) => kind);
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

  it("lets a message that waits be taken back: its request ends as cancelled, outside the transcript", async () => {
    const held = Promise.withResolvers<void>();
    answer({ hold: [{ text: "First.", hold: held.promise }], last: [{ text: "Last." }] });
    const session = await service.create("hold");
    await isAsked("hold");
    const removed = await follow(session.sessionId, "take me back");
    const last = await follow(session.sessionId, "last");
    assert.equal(await turn().removeQueued(removed.runId), true);
    assert.equal(await turn().removeQueued(removed.runId), false, "it has ended");
    assert.equal(await turn().removeQueued(session.runId), false, "it has started");
    held.resolve();
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
    assert.equal((await readEngine(last.runId)).length, 1, "its job was sent once");
  });

  it("goes on after a run whose executor gave up", async () => {
    const { claim, sessionId, release } = await takeOver("give up");
    answer({ "after that": [{ text: "Here." }] });
    const next = await follow(sessionId, "after that");
    await turn().abandon(claim.runId, "the test says so");
    release();
    await service.completed(next.statusUrl);
    assert.deepEqual(
      only(await readEvents(service, sessionId), "run.completed").map(({ outcome }) => outcome),
      ["errored", "succeeded"],
    );
  });
});
