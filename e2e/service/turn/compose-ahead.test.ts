import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestService, say, type TestService, waitUntil } from "../testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Long enough for a model call to arrive, if the service made one. */
const waitForArrival = () => new Promise((resolve) => setTimeout(resolve, 300));

/**
 * Runs `work` while another transaction holds the lock of a run's row, and the write of the run's step waits for that
 * lock. `inTransaction` is done in the transaction that holds the lock, before it is committed.
 */
async function whileStepWaits(
  runId: string,
  release: () => void,
  work: () => Promise<unknown>,
  inTransaction: Parameters<TestService["container"]["services"]["db"]["transaction"]>[0] = async () => {},
): Promise<void> {
  const { db } = service.container.services;
  await db.transaction(async (tx) => {
    await tx.select().from(runs).where(eq(runs.id, runId)).for("update");
    release();
    await waitUntil(async () => {
      const waiting = await db.execute(
        sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'with write as%'`,
      );
      return (waiting as unknown as { rows: unknown[] }).rows.length > 0;
    }, "the write of the step waits");
    await work();
    await inTransaction(tx);
  });
}

async function callTool() {
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  const task = `Read what was said, ${crypto.randomUUID()}`;
  service.model.enqueue({ toolCalls: [{ name: "list_transcript", arguments: {} }], hold });
  const session = await service.create(task);
  const isOurs = (body: unknown) => JSON.stringify(body).includes(task);
  await service.model.waitForRequest(({ body }) => isOurs(body));
  /** Returns the bodies of the model calls of this session. */
  const calls = () => service.model.requests.flatMap(({ body }) => (isOurs(body) ? [body] : []));
  return { ...session, release, calls };
}

describe("a model call that is composed while the step before it is written", () => {
  it("is not made before the step is stored", async () => {
    const { runId, statusUrl, release, calls } = await callTool();
    service.model.enqueue(say("Done."));
    await whileStepWaits(runId, release, async () => {
      await waitForArrival();
      assert.equal(calls().length, 1);
    });
    await service.completed(statusUrl);
    assert.equal(calls().length, 2);
  });

  it("is not made if another executor has claimed the run meanwhile", async () => {
    const { runId, release, calls } = await callTool();
    const claim = { epoch: sql`${runs.epoch} + 1`, player: "another function run" };
    await whileStepWaits(runId, release, waitForArrival, async (tx) => {
      await tx.update(runs).set(claim).where(eq(runs.id, runId));
    });
    await waitForArrival();
    assert.equal(calls().length, 1);
  });

  it("is composed again if a message has joined the turn", async () => {
    const { sessionId, statusUrl, release, calls } = await callTool();
    const steer = { text: "and be brief", mode: "steer" };
    const answer = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, steer);
    assert.equal(answer.status, 202);
    service.model.enqueue(say("Done."));
    release();
    await service.completed(statusUrl);
    const [, second, ...others] = calls();
    assert.match(JSON.stringify(second), /and be brief/);
    assert.deepEqual(others, []);
  });
});
