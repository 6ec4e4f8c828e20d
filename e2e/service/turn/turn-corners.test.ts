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

/**
 * Makes the service throw the first time that it reaches a fault point during `work`, to simulate a lost connection.
 */
async function throwAt(point: FaultPoint, work: () => Promise<void>) {
  armFaults({ point, nth: 1, action: "throw", afterMs: 0 });
  try {
    await work();
  } finally {
    armFaults(undefined);
  }
}

describe("a turn continues", () => {
  it("after a call whose arguments are null", async () => {
    let calls = 0;
    service.model.respondWith(() =>
      calls++ === 0 ? { toolCalls: [{ name: "list_files", arguments: "null" }] } : { text: "Understood." },
    );
    const session = await service.create("call it with nothing");
    await service.completed(session.statusUrl);
    const [result] = only(await readEvents(service, session.sessionId), "tool.result");
    assert.equal(result?.state, "failed");
    assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
  });

  it("after a crash with the structured result that it had recorded, without a second call", async () => {
    let calls = 0;
    service.model.respondWith(({ text, kind }) => {
      if (isSummaryRequest(text)) return { text: "cut off", finish: "length", usage };
      if (kind === "probe") return { json: {} };
      if (kind === "structured") return { json: { price: "word ".repeat(3_500) }, usage };
      return ++calls <= 3 ? { text: "finding ".repeat(600), ...idle, usage } : { text: "Done.", usage };
    });
    await throwAt("close-begun", async () => {
      const session = await service.create("Find the price", { outputSchema: schema });
      await service.completed(session.statusUrl);
      assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
      assert.equal((await readStatus(service, session.sessionId)).deliverable?.status, "ready");
    });
  });

  it("after a crash with the recorded failure of a summary, which ends the run, without a second summary", async () => {
    let calls = 0;
    let summaries = 0;
    service.model.respondWith(({ text }) => {
      if (isSummaryRequest(text)) {
        summaries++;
        return { status: 400, message: "no summary today" };
      }
      return calls++ < 12 ? { text: "finding ".repeat(600), ...idle, usage } : { text: "Done.", usage };
    });
    await throwAt("close-begun", async () => {
      const session = await service.create("Compare the offers");
      await service.completed(session.statusUrl);
      assert.deepEqual(await outcomes(session.sessionId), [["errored", "no summary today"]]);
      assert.equal(summaries, 1);
    });
  });

  it("with a new turn for a steer that arrives at the step limit", async () => {
    const limited = await openTestService({ AGENT_MAX_STEPS: "2" });
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    limited.model.respondWith(({ userText }) => {
      if (userText.includes("in blue")) return { text: "Blue." };
      return calls++ === 0
        ? { toolCalls: [{ name: "list_transcript", arguments: {} }] }
        : { text: "Grey.", hold: gate.promise };
    });
    const session = await limited.create("Paint");
    await waitUntil(() => calls === 2, "the last step");
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const steer = (await (await limited.call("POST", path, { text: "in blue", mode: "steer" })).json()) as {
      statusUrl: string;
    };
    gate.resolve();
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

  it("with its result and a new turn for a steer that arrives at the step limit of a structured turn", async () => {
    const limited = await openTestService({ AGENT_MAX_STEPS: "1" });
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    limited.model.respondWith(({ kind }) => {
      if (kind === "probe") return { json: {} };
      if (kind === "structured") return { json: { price: "10" }, usage };
      return calls++ === 0 ? { text: "Grey.", hold: gate.promise } : { text: "Blue." };
    });
    const session = await limited.create("Find the price", { outputSchema: schema });
    await waitUntil(() => calls === 1, "the last step");
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const steer = (await (await limited.call("POST", path, { text: "in blue", mode: "steer" })).json()) as {
      statusUrl: string;
    };
    gate.resolve();
    await limited.completed(session.statusUrl);
    await limited.completed(steer.statusUrl);
    const ends = only(await readEvents(limited, session.sessionId), "run.completed");
    assert.deepEqual(
      ends.map(({ outcome, deliverable }) => [outcome, deliverable?.status]),
      [
        ["succeeded", "ready"],
        ["succeeded", "ready"],
      ],
    );
    await limited.close();
  });

  it("with a steer that arrives during the compaction before the collection", async () => {
    const gate = Promise.withResolvers<void>();
    let [calls, structured, summaries] = [0, 0, 0];
    service.model.respondWith(({ text, kind }) => {
      if (isSummaryRequest(text)) {
        const isFirst = calls === 2 && summaries++ === 0;
        return { text: "In short.", usage, ...(isFirst && { hold: gate.promise }) };
      }
      if (kind === "probe") return { json: {} };
      if (kind === "structured") return { json: { price: String(++structured) }, usage };
      if (++calls === 1) return { text: "x ".repeat(3_000), ...idle, usage };
      if (calls === 2) return { text: "finding ".repeat(3_300), usage };
      return { text: "Steered.", usage };
    });
    const session = await service.create("Find the price", { outputSchema: schema });
    await waitUntil(() => summaries === 1, "the context is compacted before the collection");
    await follow(session.sessionId, { text: `also mind this: ${"word ".repeat(1_000)}`, mode: "steer" });
    gate.resolve();
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

describe("a turn that is stopped before it starts", () => {
  it("leaves its message in the transcript, the log and the next prompt", async () => {
    service.model.respondWith(() => ({ text: "ok" }));
    await throwAt("run-claimed", async () => {
      // The interrupt arrives before the turn starts, because the executor's first attempt to start the run fails.
      const session = await service.create("an early note");
      const urgent = await follow(session.sessionId, { text: "urgent", mode: "interrupt" });
      await service.completed(urgent.statusUrl);
      await service.completed(session.statusUrl);
      const next = await follow(session.sessionId, { text: "and then?" });
      await service.completed(next.statusUrl);
      const messages = only(await readEvents(service, session.sessionId), "message.completed");
      assert.equal(
        messages.filter(({ message }) => JSON.stringify(message).includes("an early note")).length,
        1,
      );
      assert.match(service.model.requests.at(-1)?.text ?? "", /an early note/);
    });
  });
});

describe("a run that is abandoned", () => {
  it("before its start still has its message in the transcript", async () => {
    const gate = Promise.withResolvers<void>();
    service.model.respondWith(({ userText }) => ({
      text: "ok",
      ...(userText.includes("hold this") && { hold: gate.promise }),
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
    gate.resolve();
    // `abandon` adds the note to the transcript, unless the run's own job has already played the run. Both are allowed.
    await waitUntil(async () => {
      const rows = await db.select().from(messages).where(eq(messages.requestId, requestId));
      return rows.some(({ role, seq }) => role === "user" && seq !== null);
    }, "the note is in the transcript");
  });

  it("by an outdated job is played by the newer one", async () => {
    const gate = Promise.withResolvers<void>();
    service.model.respondWith(() => ({ text: "Played.", hold: gate.promise }));
    const session = await service.create("leave it to the newer");
    await service.model.waitForRequest(({ userText }) => userText.includes("leave it"));
    const { db, turn } = service.container.services;
    await db.update(runs).set({ generation: sql`generation + 1` }).where(eq(runs.id, session.runId));
    await turn.abandon({ runId: session.runId, generation: 1, player: "another" }, "the test says so");
    gate.resolve();
    await service.completed(session.statusUrl);
    assert.deepEqual(await outcomes(session.sessionId), [["succeeded", undefined]]);
  });
});

describe("a started compaction", () => {
  it("ends after a restart in which the context has become large enough", async () => {
    const gate = Promise.withResolvers<void>();
    let [calls, summaries] = [0, 0];
    service.model.respondWith(({ text }) => {
      if (isSummaryRequest(text))
        return summaries++ ? { text: "Kept." } : { text: "Lost.", hold: gate.promise };
      return calls++ < 20 ? { text: "finding ".repeat(250), ...idle, usage } : { text: "Done.", usage };
    });
    const session = await service.create("Compare the offers");
    const { sessionId, runId } = session;
    await waitUntil(
      async () => (await readStatus(service, sessionId)).turnState === "compacting",
      "compacting",
    );
    const { db, turn } = service.container.services;
    // Reduces the recorded prompt size so that no compaction is needed, to simulate a deployment with a larger context.
    await db
      .update(steps)
      .set({ output: { tokens: 1 } })
      .where(sql`run_id = ${runId} and name like 'compacting-%'`);
    await turn.play({ runId, generation: 1, player: "another" });
    gate.resolve();
    const events = await readEvents(service, sessionId);
    assert.equal(only(events, "turn.compacting").length, only(events, "turn.compacted").length);
    assert.equal((await readStatus(service, sessionId)).turnState, "idle");
  });
});
