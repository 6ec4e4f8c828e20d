import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { deliveries, outbox, runs } from "#db/schema/index.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { openServedService, type ServedService } from "./real-server-testing.ts";
import { waitUntil } from "./testing.ts";

/** A stand-in for an Inngest server. `loseState` simulates a restart of a server without a durable queue. */
let standIn: InngestStandIn;
let service: ServedService;
before(async () => {
  standIn = await startInngestStandIn();
  service = await openServedService(standIn);
});
after(async () => {
  await service.close();
  await standIn.close();
});

const HALF_AN_HOUR_AGO = new Date(Date.now() - 30 * 60_000);

it("a run whose job the server has lost gets a new job and is played", async () => {
  const { db } = service.container.services;
  service.model.respondWith(() => ({ text: "Played after all." }));
  standIn.set({ deliver: () => [] });
  const session = await service.create("Get lost");
  const jobId = `${session.runId}:1`;
  const isSent = async () => (await db.select().from(outbox).where(eq(outbox.id, jobId)))[0]?.sentAt;
  await waitUntil(async () => Boolean(await isSent()), "the job is sent");
  standIn.set();
  // Backdates the run and its job by half an hour, so that the sweep treats the job as lost.
  await db.update(runs).set({ createdAt: HALF_AN_HOUR_AGO }).where(eq(runs.id, session.runId));
  await db.update(outbox).set({ sentAt: HALF_AN_HOUR_AGO }).where(eq(outbox.id, jobId));
  await service.container.sweep();
  await service.completed(session.statusUrl);
  const [run] = await db.select().from(runs).where(eq(runs.id, session.runId));
  assert.deepEqual([run?.state, run?.generation], ["succeeded", 2]);
});

it("a waiting retry gets a new job within a minute after the server lost its state, without the server's cron", async () => {
  const { db } = service.container.services;
  const gate = Promise.withResolvers<void>();
  const answers: Step[] = [
    { status: 503, message: "overloaded", hold: gate.promise },
    { text: "Played after all." },
  ];
  service.model.respondWith(() => answers.shift());
  const session = await service.create("Go on without a server");
  await service.model.waitForRequest(({ userText }) => userText.includes("without a server"));
  const readRuns = () => db.select().from(runs).where(eq(runs.requestId, session.requestId));
  // The server delivers no jobs, so the retry cannot start after the first run has ended.
  standIn.set({ deliver: () => [] });
  gate.resolve();
  await waitUntil(async () => (await readRuns()).length === 2, "the retry waits");
  const retry = (await readRuns()).find(({ attempt }) => attempt === 2);
  const jobId = `${retry?.id}:1`;
  const isSent = async () => (await db.select().from(outbox).where(eq(outbox.id, jobId)))[0]?.sentAt;
  await waitUntil(async () => Boolean(await isSent()), "the job is sent");
  standIn.loseState();
  standIn.set();
  // Backdates the retry and its job by 45 seconds, so that the service treats the job as lost.
  const at = new Date(Date.now() - 45_000);
  await db
    .update(runs)
    .set({ createdAt: at, notBefore: at })
    .where(eq(runs.id, retry?.id ?? ""));
  await db.update(outbox).set({ sentAt: at }).where(eq(outbox.id, jobId));
  await service.completed(session.statusUrl);
  const ended = (await readRuns()).find(({ attempt }) => attempt === 2);
  assert.deepEqual([ended?.state, ended?.generation], ["succeeded", 2]);
});

it("a callback whose job the server has lost gets a new job and arrives", async () => {
  const { db } = service.container.services;
  const receiver = await startReceiver();
  const isDelivery = ({ name }: { name: string }) => name === "callback/delivery.requested";
  standIn.set({ deliver: (events) => events.filter((event) => !isDelivery(event)) });
  const session = await service.create("Tell them", { callback: { url: `${receiver.url}/hook` } });
  await service.completed(session.statusUrl);
  const rows = await db.select().from(deliveries).where(eq(deliveries.sessionId, session.sessionId));
  const ids = rows.map(({ id }) => id);
  assert.deepEqual([ids.length, receiver.received.length], [2, 0]);
  const unsent = async () => (await db.select().from(outbox)).filter(({ sentAt }) => sentAt === null);
  await waitUntil(async () => (await unsent()).length === 0, "the jobs are sent");
  standIn.set();
  await db.update(deliveries).set({ nextAttemptAt: HALF_AN_HOUR_AGO }).where(inArray(deliveries.id, ids));
  await service.container.sweep();
  await waitUntil(() => receiver.received.length === 2, "both callbacks have arrived");
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers["x-service-delivery"]).sort(),
    [...ids].sort(),
  );
  await receiver.close();
});
