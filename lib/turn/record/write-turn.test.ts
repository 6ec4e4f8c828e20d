import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { eq, inArray, sql } from "drizzle-orm";
import {
  deliverables,
  events,
  outbox,
  receipts,
  runs,
  sessions,
  steps,
  toolCalls,
} from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { draftEvents } from "#lib/events/draft-event.ts";
import { requestRun } from "#lib/session/store/jobs.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import type { TurnWrite } from "./turn-write.ts";
import { writeTurn } from "./write-turn.ts";

const { db, close } = await openTestDatabase();
after(close);

let groups = 0;

const NO_USAGE = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  durationMs: 0,
};

/** Creates eight sessions with a running run each, and a function that writes a step of each run in the same moment. */
async function eight() {
  groups += 1;
  const ids = Array.from({ length: 8 }, (_, index) => `ses_${groups}_${index}`);
  const all = await Promise.all(
    ids.map(async (id) => ({ id, ...(await insertTestSession(db, id)), epoch: 0 })),
  );
  const write = ({ id, runId, requestId, epoch }: (typeof all)[number], more: Partial<TurnWrite> = {}) => {
    const about = { requestId, runId, source: "api" } as const;
    const drafts = draftEvents(id, [
      { kind: "run.compacted", ...about, isCompacting: true } as never,
      { kind: "run.compacted", ...about, isCompacting: false } as never,
    ]);
    const step = { name: "model-1", output: { of: id }, modelMessages: [{ role: "assistant", content: id }] };
    return writeTurn(db, { sessionId: id, runId, epoch }, { step, drafts, ...more });
  };
  const readSteps = () =>
    db
      .select()
      .from(steps)
      .where(
        inArray(
          steps.runId,
          all.map(({ runId }) => runId),
        ),
      );
  return { all, write, readSteps };
}

/** Counts the statements that write steps, from those that are executed in `work`. */
async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const before = db.execute;
  let statements = 0;
  db.execute = ((...args: Parameters<typeof before>) => {
    statements += 1;
    return before.apply(db, args);
  }) as typeof before;
  try {
    await work();
  } finally {
    db.execute = before;
  }
  return statements;
}

describe("writes of the same moment", () => {
  it("share statements, and each run gets its own steps, events and receipt", async () => {
    const { all, write, readSteps } = await eight();
    let receipts: Awaited<ReturnType<typeof writeTurn>>[] = [];
    const statements = await countStatements(async () => {
      receipts = await Promise.all(all.map((run) => write(run)));
    });
    // Two are sent at once, and the other six travel together.
    assert.equal(statements, 3);
    assert.deepEqual(
      receipts.map((receipt) => receipt?.lastSeq),
      Array(8).fill(2),
    );
    const rows = await readSteps();
    assert.equal(rows.length, 8);
    for (const [index, { id, runId, requestId }] of all.entries()) {
      const step = rows.find((row) => row.runId === runId);
      assert.deepEqual(
        [step?.sessionId, step?.output, step?.position],
        [id, { of: id }, receipts[index]?.position],
      );
      const stored = await db.select().from(events).where(eq(events.sessionId, id)).orderBy(events.seq);
      assert.deepEqual(
        stored.map((event) => [event.seq, event.runId, event.requestId, JSON.parse(event.body).seq]),
        [
          [1, runId, requestId, 1],
          [2, runId, requestId, 2],
        ],
      );
    }
  });

  it("have their own parts: a result, a job and an end are only those of their run", async () => {
    const { all, write } = await eight();
    const ids = all.map(({ runId }) => runId);
    const special: Partial<TurnWrite>[] = all.map(() => ({}));
    special[2] = { deliverable: { runId: ids[2] ?? "", status: "ready", value: null } };
    special[3] = { parkedAt: new Date() };
    special[4] = { isCompacting: true };
    special[5] = { jobs: [requestRun({ id: ids[5] ?? "", sessionId: all[5]?.id ?? "", generation: 7 })] };
    special[6] = {
      end: { state: "succeeded", error: null, usage: NO_USAGE, endedAt: new Date(), retry: undefined },
    };
    special[7] = { startedAt: new Date("2026-01-02T03:04:05.000Z") };
    await Promise.all(all.map((run, index) => write(run, special[index])));
    const only = (index: number) => ids.map((_, each) => each === index);
    const rows = await db.select().from(runs).where(inArray(runs.id, ids));
    const byRun = ids.map((id) => rows.find((row) => row.id === id));
    const having = (list: { runId: string }[]) => ids.map((id) => list.some(({ runId }) => runId === id));
    assert.deepEqual(having(await db.select().from(deliverables)), only(2));
    assert.deepEqual(having(await db.select().from(receipts)), only(2));
    assert.deepEqual(
      byRun.map((run) => run?.parkedAt !== null),
      only(3),
    );
    assert.deepEqual(
      byRun.map((run) => run?.isCompacting),
      only(4),
    );
    assert.equal(
      (
        await db
          .select()
          .from(outbox)
          .where(eq(outbox.id, `${ids[5]}:7`))
      ).length,
      1,
    );
    assert.deepEqual(
      byRun.map((run) => run?.state === "succeeded"),
      only(6),
    );
    assert.deepEqual(
      byRun.map((run) => run?.startedAt?.getTime() === Date.parse("2026-01-02T03:04:05.000Z")),
      only(7),
    );
  });

  it("are refused one by one: a claim that is over costs the others nothing", async () => {
    const { all, write, readSteps } = await eight();
    const stale = all[5] ?? assert.fail();
    await db.update(runs).set({ epoch: 1 }).where(eq(runs.id, stale.runId));
    let receipts: Awaited<ReturnType<typeof writeTurn>>[] = [];
    const statements = await countStatements(async () => {
      receipts = await Promise.all(all.map((run) => write(run)));
    });
    assert.deepEqual(
      receipts.map((receipt) => receipt !== undefined),
      all.map((run) => run !== stale),
    );
    assert.equal(statements, 4, "the refused write is tried once more, alone");
    assert.equal((await readSteps()).length, 7);
  });

  it("leave a locked session out, which waits alone", async () => {
    const { all, write } = await eight();
    const held = all[6] ?? assert.fail();
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holder = db.transaction(async (tx) => {
      await tx.select().from(sessions).where(eq(sessions.id, held.id)).for("no key update");
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const writes = all.map((run) => write(run));
    const others = await Promise.all(writes.filter((_, index) => all[index] !== held));
    assert.ok(others.every(Boolean));
    let isWritten = false;
    const last = writes[6]?.then((receipt) => {
      isWritten = true;
      return receipt;
    });
    assert.equal(isWritten, false);
    release.resolve();
    await holder;
    assert.equal((await last)?.lastSeq, 2);
  });

  it("fail one by one: a unique violation in one of eight is that one's failure", async () => {
    const { all, write, readSteps } = await eight();
    const guilty = all[4] ?? assert.fail();
    await db.insert(steps).values({
      runId: guilty.runId,
      sessionId: guilty.id,
      name: "model-1",
      output: {},
    });
    const outcomes = await Promise.allSettled(all.map((run) => write(run)));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      all.map((run) => (run === guilty ? "rejected" : "fulfilled")),
    );
    assert.equal((await readSteps()).length, 8);
  });

  it("survive a statement that is cancelled: each is written once", async () => {
    const { all, write, readSteps } = await eight();
    const held = all[3] ?? assert.fail();
    // The insert of a call waits for a transaction with the same key, until the statement is cancelled.
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const call = {
      runId: held.runId,
      sessionId: held.id,
      callId: "call",
      resultId: `res_${held.id}`,
      name: "t",
      input: {},
      startedAt: new Date(),
    };
    const holder = db.transaction(async (tx) => {
      await tx.insert(toolCalls).values({ ...call, state: "started" });
      locked.resolve();
      await release.promise;
      tx.rollback();
    });
    const ended = holder.catch(() => {});
    await locked.promise;
    const writes = all.map((run) =>
      write(run, run === held ? { toolCalls: [{ ...call, state: "started" as const }] } : {}),
    );
    const waiting = sql`select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'with write as%'`;
    let cancelled = 0;
    while (cancelled === 0) {
      const { rows } = (await db.execute(waiting)) as unknown as { rows: unknown[] };
      cancelled = rows.length;
    }
    const others = await Promise.all(writes.filter((_, index) => all[index] !== held));
    assert.ok(others.every(Boolean));
    release.resolve();
    await ended;
    assert.ok(await writes[3]);
    assert.equal((await readSteps()).length, 8);
  });

  it("that are large, or in a transaction, are statements of their own", async () => {
    const { all, write } = await eight();
    const large = { name: "large", output: "x".repeat(70_000) };
    assert.equal(await countStatements(() => Promise.all(all.map((run) => write(run, { step: large })))), 8);
  });
});
