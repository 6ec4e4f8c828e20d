import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { messages, runs, steps } from "#db/schema/index.ts";
import { armFaults, type FaultPoint } from "#lib/faults/fault-point.ts";
import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService({ SANDBOX: "unconfined", AGENT_CONTEXT_TOKENS: "12000" });
});
after(() => service.close());

const schema = { type: "object", properties: { price: { type: "string" } }, required: ["price"] };
const isSummaryRequest = (text: string) => text.includes(SUMMARY_REQUEST);
const usage = { inputTokens: 0, outputTokens: 10 };
const idle = { toolCalls: [{ name: "run_shell", arguments: { command: "true" } }] };
const outcomes = async (sessionId: string) =>
  only(await readEvents(service, sessionId), "run.completed").map(({ outcome, error }) => [outcome, error]);

async function follow(sessionId: string, body: object) {
  const response = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, body);
  return (await response.json()) as { statusUrl: string; requestId: string };
}

/** The next arrival at a point throws, as a lost database does. */
async function throwAt(point: FaultPoint, work: () => Promise<void>) {
  armFaults({ point, nth: 1, action: "throw", afterMs: 0 });
  try {
    await work();
  } finally {
    armFaults(undefined);
  }
}

describe("a turn goes on", () => {
  it("after a call whose arguments are null", async () => {
    let made = 0;
    service.model.respondWith(() =>
      made++ === 0 ? { toolCalls: [{ name: "list_files", arguments: "null" }] } : { text: "Understood." },
    );
    const session = await service.create("call it with nothing");
    await service.completed(session.statusUrl);
    const [result] = only(await readEvents(service, session.sessionId), "tool.result");
    assert.equal(result?.state, "failed");
    assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
  });

  it("with a structured result that was recorded before a crash: nothing is made of it again", async () => {
    let made = 0;
    service.model.respondWith(({ text, kind }) => {
      if (isSummaryRequest(text)) return { text: "cut off", finish: "length", usage };
      if (kind === "probe") return { json: {} };
      if (kind === "structured") return { json: { price: "word ".repeat(3_500) }, usage };
      return ++made <= 3 ? { text: "finding ".repeat(600), ...idle, usage } : { text: "Done.", usage };
    });
    await throwAt("close-begun", async () => {
      const session = await service.create("Find the price", { outputSchema: schema });
      await service.completed(session.statusUrl);
      assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
      assert.equal((await readStatus(service, session.sessionId)).deliverable?.status, "ready");
    });
  });

  it("behind a summary that failed: the run ends with the reason, and the summary is not asked for twice", async () => {
    let made = 0;
    let summaries = 0;
    service.model.respondWith(({ text }) => {
      if (isSummaryRequest(text)) {
        summaries++;
        return { status: 400, message: "no summary today" };
      }
      return made++ < 12 ? { text: "finding ".repeat(600), ...idle, usage } : { text: "Done.", usage };
    });
    await throwAt("close-begun", async () => {
      const session = await service.create("Compare the offers");
      await service.completed(session.statusUrl);
      assert.deepEqual(await outcomes(session.sessionId), [["errored", "no summary today"]]);
      assert.equal(summaries, 1);
    });
  });

  it("with a message at the limit of its steps as a turn of its own", async () => {
    const limited = await openTestService({ AGENT_MAX_STEPS: "2" });
    const held = Promise.withResolvers<void>();
    let made = 0;
    limited.model.respondWith(({ userText }) => {
      if (userText.includes("in blue")) return { text: "Blue." };
      return made++ === 0
        ? { toolCalls: [{ name: "list_transcript", arguments: {} }] }
        : { text: "Grey.", hold: held.promise };
    });
    const session = await limited.create("Paint");
    await waitUntil(() => made === 2, "the last step");
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const steer = (await (await limited.call("POST", path, { text: "in blue", mode: "steer" })).json()) as {
      statusUrl: string;
    };
    held.resolve();
    await limited.completed(session.statusUrl);
    await limited.completed(steer.statusUrl);
    const events = await readEvents(limited, session.sessionId);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome }) => outcome),
      ["succeeded", "succeeded"],
    );
    assert.match(JSON.stringify(only(events, "message.completed").at(-1)), /Blue/);
    await limited.close();
  });

  it("with a message that arrives while room is made for the collection", async () => {
    const held = Promise.withResolvers<void>();
    let [made, structured, summaries] = [0, 0, 0];
    service.model.respondWith(({ text, kind }) => {
      if (isSummaryRequest(text)) {
        const isFirst = made === 2 && summaries++ === 0;
        return { text: "In short.", usage, ...(isFirst && { hold: held.promise }) };
      }
      if (kind === "probe") return { json: {} };
      if (kind === "structured") return { json: { price: String(++structured) }, usage };
      if (++made === 1) return { text: "x ".repeat(3_000), ...idle, usage };
      if (made === 2) return { text: "finding ".repeat(2_350), usage };
      return { text: "Steered.", usage };
    });
    const session = await service.create("Find the price", { outputSchema: schema });
    await waitUntil(() => summaries === 1, "room is made before the collection");
    await follow(session.sessionId, { text: `also mind this: ${"word ".repeat(1_000)}`, mode: "steer" });
    held.resolve();
    await service.completed(session.statusUrl);
    assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
    assert.deepEqual((await readStatus(service, session.sessionId)).deliverable, {
      runId: session.runId,
      status: "ready",
      value: { price: "1" },
    });
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "turn.steered").length, 1);
    assert.match(JSON.stringify(only(events, "message.completed").at(-1)), /Steered\..*data-deliverable/);
  });
});

describe("a turn that is stopped before it began", () => {
  it("leaves its message in transcript and log, and before the next turn's model", async () => {
    service.model.respondWith(() => ({ text: "ok" }));
    await throwAt("run-claimed", async () => {
      // The first claim is lost, so that the interrupt finds a turn that is about to start.
      const session = await service.create("an early note");
      const urgent = await follow(session.sessionId, { text: "urgent", mode: "interrupt" });
      await service.completed(urgent.statusUrl);
      await service.completed(session.statusUrl);
      const next = await follow(session.sessionId, { text: "and then?" });
      await service.completed(next.statusUrl);
      const told = only(await readEvents(service, session.sessionId), "message.completed");
      assert.equal(told.filter(({ message }) => JSON.stringify(message).includes("an early note")).length, 1);
      assert.match(service.model.requests.at(-1)?.text ?? "", /an early note/);
    });
  });
});

describe("a run that is given up", () => {
  it("before it began still puts its message into the transcript", async () => {
    const held = Promise.withResolvers<void>();
    service.model.respondWith(({ userText }) => ({
      text: "ok",
      ...(userText.includes("hold this") && { hold: held.promise }),
    }));
    const session = await service.create("hold this");
    await service.model.waitForRequest(({ userText }) => userText.includes("hold this"));
    const { requestId } = await follow(session.sessionId, { text: "an acknowledged note" });
    const { db, turn } = service.container.services;
    const [run] = await db.select().from(runs).where(eq(runs.requestId, requestId));
    assert.ok(run);
    await turn.stopRun(session.runId);
    await service.completed(session.statusUrl);
    await turn.abandon({ runId: run.id, generation: 9, player: "another" }, "the test says so");
    held.resolve();
    // Its own job may have taken it up meanwhile; whoever has it puts the message there.
    await waitUntil(async () => {
      const rows = await db.select().from(messages).where(eq(messages.requestId, requestId));
      return rows.some(({ role, seq }) => role === "user" && seq !== null);
    }, "the note is in the transcript");
  });

  it("is left to a newer job", async () => {
    const held = Promise.withResolvers<void>();
    service.model.respondWith(() => ({ text: "Played.", hold: held.promise }));
    const session = await service.create("leave it to the newer");
    await service.model.waitForRequest(({ userText }) => userText.includes("leave it"));
    const { db, turn } = service.container.services;
    await db.update(runs).set({ generation: sql`generation + 1` }).where(eq(runs.id, session.runId));
    await turn.abandon({ runId: session.runId, generation: 1, player: "another" }, "the test says so");
    held.resolve();
    await service.completed(session.statusUrl);
    assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
  });
});

describe("a compaction that was begun", () => {
  it("is over where the budget has grown since", async () => {
    const held = Promise.withResolvers<void>();
    let [made, summaries] = [0, 0];
    service.model.respondWith(({ text }) => {
      if (isSummaryRequest(text))
        return summaries++ ? { text: "Kept." } : { text: "Lost.", hold: held.promise };
      return made++ < 20 ? { text: "finding ".repeat(250), ...idle, usage } : { text: "Done.", usage };
    });
    const session = await service.create("Compare the offers");
    const { sessionId, runId } = session;
    await waitUntil(
      async () => (await readStatus(service, sessionId)).turnState === "compacting",
      "compacting",
    );
    const { db, turn } = service.container.services;
    // As after a redeploy with a larger budget: what is to be done is decided by what the step noted.
    await db
      .update(steps)
      .set({ output: { tokens: 1 } })
      .where(sql`run_id = ${runId} and name like 'compacting-%'`);
    await turn.play({ runId, generation: 1, player: "another" });
    held.resolve();
    const events = await readEvents(service, sessionId);
    assert.equal(only(events, "turn.compacting").length, only(events, "turn.compacted").length);
    assert.equal((await readStatus(service, sessionId)).turnState, "idle");
  });
});
