import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { elicitations, runs, waits } from "#db/schema/index.ts";
import { createDatabase } from "#db/testing.ts";
import { startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { openServedService } from "../real-server-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { readStatus } from "../turn/turn-testing.ts";
import {
  answer,
  ask,
  checkWakes,
  type PersonSession,
  readResults,
  script,
  startParked,
} from "./waiting-testing.ts";

const QUESTION = [ask("Which colour?", { timeoutSeconds: 604_800 })];
const HOUR_MS = 3_600_000;

/** Answers the question of a parked turn at this service. Checks that the service continues the turn until its end. */
async function answerOn(service: TestService, session: PersonSession & { ids: string[] }): Promise<void> {
  script(service, [{ toolCalls: QUESTION }, { text: "Done." }]);
  assert.deepEqual((await readStatus(service, session.sessionId)).waitingOn?.ids, session.ids);
  assert.equal(await answer(service, session, session.ids[0]), 202);
  await service.completed(session.turn.statusUrl);
  const { outcome, wakes } = await checkWakes(service, session);
  assert.deepEqual([outcome, wakes], ["succeeded", ["settled"]]);
  assert.deepEqual(await readResults(service, session), ["The person answered: red"]);
}

/** Moves all times of a parked turn into the past, as if `ms` milliseconds had passed. */
async function moveClock({ container }: TestService, { turn }: PersonSession, ms: number): Promise<void> {
  const { db } = container.services;
  const back = (at: Date | null) => at && new Date(at.getTime() - ms);
  const [run] = await db.select().from(runs).where(eq(runs.id, turn.runId));
  const [wait] = await db.select().from(waits).where(eq(waits.runId, turn.runId));
  const [question] = await db.select().from(elicitations).where(eq(elicitations.runId, turn.runId));
  assert.ok(run && wait && question);
  const createdAt = back(run.createdAt) ?? undefined;
  await db
    .update(runs)
    .set({ createdAt, parkedAt: back(run.parkedAt), startedAt: back(run.startedAt) })
    .where(eq(runs.id, turn.runId));
  await db
    .update(waits)
    .set({ deadlineAt: back(wait.deadlineAt) })
    .where(eq(waits.runId, turn.runId));
  const expiresAt = back(question.expiresAt) ?? undefined;
  await db.update(elicitations).set({ expiresAt }).where(eq(elicitations.id, question.id));
}

describe("a question can be answered", () => {
  it("after a restart and 25 hours", async () => {
    const first = await openTestService();
    const session = await startParked(first, QUESTION);
    await moveClock(first, session, 25 * HOUR_MS);
    await first.close({ keepFiles: true });
    const second = await openTestService({}, first.dataDir);
    await answerOn(second, session);
    await second.close();
  });

  it("after a redeploy from the embedded engine to Inngest", async () => {
    const first = await openTestService();
    const session = await startParked(first, QUESTION);
    await first.close({ keepFiles: true });
    const standIn = await startInngestStandIn();
    const second = await openServedService(standIn, {}, first.dataDir);
    await answerOn(second, session);
    await second.close();
    await standIn.close();
  });

  it("after a redeploy from Inngest to the embedded engine", async () => {
    const standIn = await startInngestStandIn();
    const first = await openServedService(standIn);
    const session = await startParked(first, QUESTION);
    await first.close({ keepFiles: true });
    await standIn.close();
    for (const name of Object.keys(standIn.variables)) delete process.env[name];
    const second = await openTestService({}, first.dataDir);
    await answerOn(second, session);
    await second.close();
    await rm(first.dataDir, { recursive: true, force: true });
  });
});

describe("two processes on one Postgres", () => {
  let postgres: TestPostgres | undefined;
  after(() => postgres?.stop());

  it("continue a turn that one parked when the other receives the answer, also after the first has ended", async () => {
    postgres = await startTestPostgres();
    const url = await createDatabase(postgres.url, "parked");
    const open = () => openTestService({ DATABASE_URL: url, DATABASE_DRIVER: "pg" });
    const [first, second] = await Promise.all([open(), open()]);
    const whileBothRun = await startParked(first, QUESTION);
    await answerOn(second, whileBothRun);
    const afterFirst = await startParked(first, QUESTION);
    await first.close();
    await answerOn(second, afterFirst);
    await second.close();
  });
});
