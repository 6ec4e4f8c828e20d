import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { asc, eq } from "drizzle-orm";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { requests, runs } from "#db/schema/index.ts";
import { openTestDatabase, openTestPostgres } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { createJobSender } from "../jobs/job-sender.ts";
import { listOpenRuns } from "../store/run-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { acceptMessage, type NewFollowUp, QUEUED_BYTES_MAX } from "./accept-message.ts";
import { editQueued, listQueue, withdrawQueued } from "./queue.ts";

const { db, close } = await openTestDatabase();
const sender = { send: async () => {}, logger: { warn() {} } };
const jobs = createJobSender({ ...sender, db });
const log = createEventLog(db, createMemoryBus());
after(close);

const followUp = (sessionId: string, text: string, fields: Partial<NewFollowUp> = {}): NewFollowUp => ({
  sessionId,
  mode: "queue",
  origin: "external",
  userId: null,
  idempotencyKey: null,
  bodyHash: text,
  messages: [{ role: "user", parts: [{ type: "text", text }] }],
  ...fields,
});
async function accept(input: NewFollowUp, deps = { db, log, jobs }) {
  const result = await acceptMessage(deps, input);
  assert.ok(result.status === "accepted" || result.status === "replayed", result.status);
  return result;
}
const endRun = (runId: string) =>
  db
    .update(runs)
    .set({ state: "succeeded", startedAt: new Date(), endedAt: new Date() })
    .where(eq(runs.id, runId));

describe("a follow-up message", () => {
  before(() => insertTestSession(db, "ses_busy"));

  test("is queued after the open turn, in order of arrival", async () => {
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, index) => accept(followUp("ses_busy", `m${index}`))),
    );
    assert.ok(accepted.every(({ queued }) => queued));
    const rows = await db
      .select()
      .from(requests)
      .where(eq(requests.sessionId, "ses_busy"))
      .orderBy(asc(requests.position));
    assert.deepEqual(
      rows.map(({ position }) => position),
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
    const queue = await listQueue(db, "ses_busy");
    assert.deepEqual(
      queue.map(({ requestId }) => requestId),
      rows.slice(1).map(({ id }) => id),
    );
  });

  test("to an unknown session is refused", async () => {
    assert.deepEqual(await acceptMessage({ db, log, jobs }, followUp("ses_none", "x")), {
      status: "unknown_session",
    });
  });

  test("starts at once when no run is open, and a replay returns the same result", async () => {
    const { runId } = await insertTestSession(db, "ses_idle");
    await endRun(runId);
    const key = { idempotencyKey: "k" };
    const first = await accept(followUp("ses_idle", "a", key));
    assert.equal(first.queued, false);
    const second = await accept(followUp("ses_idle", "b", { idempotencyKey: "l" }));
    assert.equal(second.queued, true);
    assert.deepEqual(await accept(followUp("ses_idle", "a", key)), { ...first, status: "replayed" });
    assert.deepEqual(await accept(followUp("ses_idle", "b", { idempotencyKey: "l" })), {
      ...second,
      status: "replayed",
    });
    assert.deepEqual(await acceptMessage({ db, log, jobs }, followUp("ses_idle", "c", key)), {
      status: "reused",
    });
  });

  test("with mode interrupt returns the run to stop", async () => {
    const { runId } = await insertTestSession(db, "ses_interrupted");
    const accepted = await accept(followUp("ses_interrupted", "stop", { mode: "interrupt" }));
    assert.equal(accepted.interrupts, runId);
  });

  test("with mode interrupt overtakes a message that is about to start, which keeps its turn", async () => {
    const { runId } = await insertTestSession(db, "ses_overtaken");
    const waiting = await accept(followUp("ses_overtaken", "my note"));
    await endRun(runId);
    const interrupt = { mode: "interrupt", idempotencyKey: "i" } as const;
    const urgent = await accept(followUp("ses_overtaken", "urgent", interrupt));
    assert.equal(urgent.interrupts, null);
    const order = (await listOpenRuns(db, "ses_overtaken")).map(({ run }) => run.id);
    assert.deepEqual(order, [urgent.runId, waiting.runId]);
    const replayed = await accept(followUp("ses_overtaken", "urgent", interrupt));
    assert.deepEqual([replayed.runId, replayed.interrupts], [urgent.runId, null]);
  });
});

test("an interrupt stops a turn that is claimed concurrently", async () => {
  const postgres = await startTestPostgres();
  const server = await openTestPostgres({ driver: "pg", url: postgres.url });
  try {
    const serverDeps = {
      db: server.db,
      log: createEventLog(server.db, createMemoryBus()),
      jobs: createJobSender({ ...sender, db: server.db }),
    };
    const { runId } = await insertTestSession(serverDeps.db, "ses_raced");
    const waiting = await accept(followUp("ses_raced", "my note"), serverDeps);
    await serverDeps.db
      .update(runs)
      .set({ state: "succeeded", endedAt: new Date() })
      .where(eq(runs.id, runId));
    const isLockContended = async () => {
      const { rows } = await server.client.query<{ count: number }>(
        "select count(*)::int from pg_locks where not granted",
      );
      return rows[0]?.count === 1;
    };
    const accepting = await serverDeps.db.transaction(async (claim) => {
      await claim.update(runs).set({ epoch: 1 }).where(eq(runs.id, waiting.runId));
      const urgent = accept(followUp("ses_raced", "urgent", { mode: "interrupt" }), serverDeps);
      const isOver = urgent.then(() => true);
      while (!(await isLockContended()) && !(await Promise.race([isOver, setImmediate(false)])));
      return { urgent };
    });
    assert.equal((await accepting.urgent).interrupts, waiting.runId);
  } finally {
    await server.close();
    await postgres.stop();
  }
});

describe("a queued message", () => {
  test("can be edited until it starts", async () => {
    const { requestId } = await insertTestSession(db, "ses_queue");
    const waiting = await accept(followUp("ses_queue", "before"));
    assert.equal(await editQueued(db, "ses_queue", waiting.requestId, "after"), "edited");
    assert.deepEqual(
      (await listQueue(db, "ses_queue")).map(({ text }) => text),
      ["after"],
    );
    assert.equal(await editQueued(db, "ses_queue", requestId, "late"), "started");
    assert.equal(await editQueued(db, "ses_queue", "req_none", "x"), "unknown");
    assert.equal(await editQueued(db, "ses_busy", waiting.requestId, "x"), "unknown");
    assert.deepEqual(await withdrawQueued(db, "ses_queue", waiting.requestId), {
      status: "waiting",
      runId: waiting.runId,
    });
  });
});

describe("the messages that wait in a session", () => {
  before(() => insertTestSession(db, "ses_large"));

  test("have at most 16 MiB together, compressible ones too; a removed one makes room", async () => {
    const text = "x".repeat(5 * 1_048_576);
    const deps = { db, log, jobs };
    const sent = [await accept(followUp("ses_large", text)), await accept(followUp("ses_large", text))];
    const steer = followUp("ses_large", text, { mode: "steer" });
    sent.push(await accept(steer));
    for (const mode of ["queue", "steer", "interrupt"] as const) {
      const refused = await acceptMessage(deps, followUp("ses_large", text, { mode }));
      assert.deepEqual(refused, {
        status: "queue_full",
        error: "the waiting messages would have more than 16 MiB; wait until one starts, or remove one",
      });
    }
    await accept(followUp("ses_large", "a short one"));
    const queue = await listQueue(db, "ses_large");
    assert.ok(queue.reduce((sum, each) => sum + each.text.length, 0) <= QUEUED_BYTES_MAX);
    await endRun(sent[0]?.runId ?? "");
    await accept(followUp("ses_large", text));
  });
});
