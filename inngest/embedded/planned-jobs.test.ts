import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import type { Inngest } from "inngest";
import { outbox } from "#db/schema/index.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import { openTestDatabase } from "#db/testing.ts";
import { describeJob, type JobValue, listUnsentJobs, storedJob } from "#lib/session/store/job-store.ts";
import type { PlannedJob } from "#lib/session/store/jobs.ts";

import { requestRun } from "#lib/session/store/jobs.ts";
import { clearEngine, createTestProcess, isQuiet, readRuns, type TestProcess, until } from "./testing.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let processes: TestProcess[] = [];

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(async () => {
  await clearEngine(database.db);
  await database.db.delete(outbox);
});
afterEach(async () => {
  const alive = processes.filter((process) => !process.isCrashed());
  await Promise.all(alive.map(({ engine }) => engine.stop({ graceMs: 0 })));
  processes = [];
});

function createProcess(): TestProcess {
  const process = createTestProcess(database.db);
  processes.push(process);
  return process;
}

const job = requestRun({ id: "run_1", sessionId: "ses_1", generation: 1 });

/** Creates the function that the job starts. The function adds the data of its event to `played`. */
const play = (client: Inngest.Any, played: unknown[]) =>
  client.createFunction({ id: "play", triggers: { event: job.name } }, ({ event }) => {
    played.push(event.data);
    return "played";
  });

const store = defineStatement<JobValue | "isAccepted">(
  (
    value,
  ) => sql`with accepted as (select 1 where ${value("isAccepted")}::boolean), ${storedJob(value, sql`accepted`)}
    select count(*)::int as count from accepted`,
);

const write = (planned: PlannedJob | undefined, isAccepted = true) =>
  queryRows(database.db, store({ ...describeJob(job, planned), isAccepted }));

const plan = ({ engine }: TestProcess) => {
  const planned = engine.plan({ id: job.id, name: job.name, data: job.data });
  assert.ok(planned);
  return planned;
};

const unsent = () => listUnsentJobs(database.db, { ageMs: 0, limit: 10, now: new Date(Date.now() + 60_000) });

describe("a job whose run is stored in the same statement", () => {
  it("is played with the job's data and counts as sent; a second send of it is a duplicate", async () => {
    const played: unknown[] = [];
    const process = createProcess();
    await process.start([play(process.client, played)]);
    const planned = plan(process);
    await write(planned);
    assert.deepEqual(await unsent(), []);
    assert.deepEqual(played, []);
    planned.settle();
    planned.play();
    await until(async () => (await readRuns(database.db))[0]?.output === "played", "the run has ended");
    await process.client.send({ id: job.id, name: job.name, data: job.data });
    await until(() => isQuiet(database.db), "nothing plays");
    assert.deepEqual(played, [job.data]);
  });

  it("is played by the next start if the process ends between the commit and the play", async () => {
    const first = createProcess();
    await first.start([play(first.client, [])]);
    await write(plan(first));
    first.crash();
    await first.drained();

    const played: unknown[] = [];
    const second = createProcess();
    await second.start([play(second.client, played)]);
    await until(async () => (await readRuns(database.db))[0]?.output === "played", "the run has ended");
    assert.deepEqual(played, [job.data]);
  });

  it("is played ten seconds later if the answer to the statement was lost, and not at all if nothing was written", async () => {
    const played: unknown[] = [];
    const process = createProcess();
    await process.start([play(process.client, played)]);
    await write(plan(process));
    process.clock.advance(9_000);
    assert.deepEqual(await readRuns(database.db).then(([run]) => run?.state), "running");
    process.clock.advance(1_000);
    await until(async () => (await readRuns(database.db))[0]?.output === "played", "the run has ended");
    assert.deepEqual(played, [job.data]);

    await clearEngine(database.db);
    plan(process);
    const before = process.statementCount();
    process.clock.advance(10_000);
    await until(() => process.statementCount() > before, "the engine has looked for the run");
    assert.deepEqual(played, [job.data]);
  });

  describe("that begins before its rows are written", () => {
    /** Creates a function that waits until `stored` settles, in its first call only. */
    const playWhen = (client: Inngest.Any, stored: Promise<unknown>, played: unknown[]) => {
      let first: Promise<unknown> | undefined = stored;
      return client.createFunction({ id: "play", triggers: { event: job.name } }, async ({ event }) => {
        const waited = first;
        first = undefined;
        if ((await waited) === "absent") return "nothing";
        played.push(event.data);
        return "played";
      });
    };
    const begin = async () => {
      const played: unknown[] = [];
      const stored = Promise.withResolvers<unknown>();
      const process = createProcess();
      await process.start([playWhen(process.client, stored.promise, played)]);
      const planned = plan(process);
      planned.play();
      return { process, planned, played, ...stored };
    };
    const ended = () =>
      until(async () => (await readRuns(database.db))[0]?.output === "played", "the run has ended");

    it("is played once", async () => {
      const { process, planned, played, resolve } = await begin();
      await write(planned);
      planned.settle();
      resolve("stored");
      await ended();
      process.clock.advance(20_000);
      await until(() => isQuiet(database.db), "nothing plays");
      assert.deepEqual(played, [job.data]);
    });

    it("leaves no rows if nothing was written", async () => {
      const { process, planned, played, resolve } = await begin();
      await write(planned, false);
      planned.settle();
      const before = process.statementCount();
      resolve("absent");
      await until(() => process.statementCount() > before, "the function has ended");
      assert.deepEqual(await readRuns(database.db), []);
      assert.deepEqual(played, []);
    });

    it("is repeated if the answer to the statement was lost", async () => {
      const { process, planned, played, reject } = await begin();
      await write(planned);
      reject(new Error("connection lost"));
      await until(
        async () => (await readRuns(database.db))[0]?.state === "waiting",
        "the failed call is recorded",
      );
      assert.deepEqual(played, []);
      process.clock.advance(2_000);
      await ended();
      process.clock.advance(20_000);
      await until(() => isQuiet(database.db), "nothing plays");
      assert.deepEqual(played, [job.data]);
    });

    it("is played ten seconds later if the statement is committed after its connection was lost", async () => {
      const { process, planned, played, reject } = await begin();
      const before = process.statementCount();
      reject(new Error("connection lost"));
      await until(() => process.statementCount() > before, "the engine has tried to record the failed call");
      await write(planned);
      process.clock.advance(9_000);
      assert.deepEqual(played, []);
      process.clock.advance(1_000);
      await ended();
      assert.deepEqual(played, [job.data]);
    });
  });

  it("leaves no rows if its statement writes nothing", async () => {
    const process = createProcess();
    await process.start([play(process.client, [])]);
    await write(plan(process), false);
    assert.deepEqual(await readRuns(database.db), []);
    assert.deepEqual(await database.db.select().from(outbox), []);
  });

  it("is stored as unsent if no run is planned", async () => {
    await write(undefined);
    assert.deepEqual(await unsent(), [job]);
    assert.deepEqual(await readRuns(database.db), []);
    const [row] = await database.db.select().from(outbox).where(eq(outbox.id, job.id));
    assert.equal(row?.sentAt, null);
  });

  it("is not planned by an engine that has not started or is stopping, or if the event does more than start one run", async () => {
    const process = createProcess();
    const ask = () => process.engine.plan({ id: job.id, name: job.name, data: job.data });
    assert.equal(ask(), undefined);
    const { client } = process;
    const config = { id: "other", triggers: { event: "another" } };
    await process.start([
      play(client, []),
      client.createFunction({ ...config, cancelOn: [{ event: "stop" }] }, () => {}),
      client.createFunction({ id: "twice", triggers: { event: "another" } }, () => {}),
      client.createFunction(
        { id: "keyed", triggers: { event: "keyed" }, idempotency: "event.data.key" },
        () => {},
      ),
    ]);
    assert.ok(ask());
    for (const name of ["unknown", "another", "stop", "keyed"])
      assert.equal(process.engine.plan({ id: name, name, data: { key: "one" } }), undefined, name);
    await process.engine.stop({ graceMs: 0 });
    assert.equal(ask(), undefined);
  });
});
