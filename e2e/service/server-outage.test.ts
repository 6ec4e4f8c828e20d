import assert from "node:assert/strict";
import { after, afterEach, before, it } from "node:test";
import { eq } from "drizzle-orm";
import { deliveries, outbox, runs } from "#db/schema/index.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { openServedService, type ServedService } from "./real-server-testing.ts";
import { waitUntil } from "./testing.ts";

/**
 * The Inngest server ends and returns with an empty state: it knows neither the functions, nor their crons, nor any job.
 * Only the service's own timers can repair this, so no test starts a sweep.
 */
let standIn: InngestStandIn;
let service: ServedService;
before(async () => {
  standIn = await startInngestStandIn();
  service = await openServedService(standIn, { CALLBACK_RETRY_BASE_MS: "20000" });
});
afterEach(() => standIn.set());
after(async () => {
  await service.close();
  await standIn.close();
});

/** The service looks at the server every 10 s. */
const WITHIN_MS = 60_000;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

async function readEngine() {
  const response = await service.call("GET", "/api/ready");
  const { checks } = (await response.json()) as { checks: { engine: { ok: boolean; detail: string } } };
  return { status: response.status, ...checks.engine };
}

async function follow(sessionId: string, text: string): Promise<string> {
  const response = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
  assert.equal(response.status, 202);
  return ((await response.json()) as { statusUrl: string }).statusUrl;
}

/** Backdates a sent job, and what waits for it, so that the service treats the job as lost. */
async function backdateJob(jobId: string): Promise<void> {
  const { db } = service.container.services;
  await db
    .update(outbox)
    .set({ sentAt: minutesAgo(30) })
    .where(eq(outbox.id, jobId));
}

it("plays turns of before the outage and turns that were created during it, and attempts open callbacks", async () => {
  const { db } = service.container.services;
  const receiver = await startReceiver([500, 200]);
  const gate = Promise.withResolvers<void>();
  service.model.respondWith(({ userText }) =>
    userText.includes("Hold on") ? { text: "Held.", hold: gate.promise } : { text: "Played." },
  );

  const done = await service.create("Before", { callback: { url: receiver.url, events: ["run.completed"] } });
  await service.completed(done.statusUrl);
  await waitUntil(() => receiver.received.length === 1, "the first attempt was refused; the server waits");
  const playing = await service.create("Hold on");
  await service.model.waitForRequest(({ userText }) => userText.includes("Hold on"));
  standIn.set({ deliver: () => [] });
  const accepted = await service.create("Accepted, not started");
  const acceptedJob = `${accepted.runId}:1`;
  const readJob = async (id: string) => (await db.select().from(outbox).where(eq(outbox.id, id)))[0];
  await waitUntil(async () => Boolean((await readJob(acceptedJob))?.sentAt), "the server has the job");

  await standIn.stop();
  await waitUntil(async () => !(await readEngine()).ok, "the outage is noticed", WITHIN_MS);
  const outage = await readEngine();
  assert.deepEqual([outage.status, outage.ok], [503, false]);
  assert.match(outage.detail, /; the server cannot be reached; new jobs are sent when it answers again$/);
  const created = await Promise.all(["one", "two", "three"].map((text) => service.create(text)));
  const followUp = await follow(done.sessionId, "Go on");
  gate.resolve();
  await service.completed(playing.statusUrl, WITHIN_MS);
  assert.equal((await readJob(`${created[0]?.runId}:1`))?.sentAt, null, "the job waits in the outbox");

  standIn.set();
  await standIn.restart();
  assert.equal(standIn.isRegistered(), false);
  for (const { statusUrl } of created) await service.completed(statusUrl, WITHIN_MS);
  await service.completed(followUp, WITHIN_MS);
  assert.equal(standIn.isRegistered(), true);
  const ready = await readEngine();
  assert.deepEqual([ready.ok, /^Inngest at http\S+$/.test(ready.detail)], [true, true]);

  await db
    .update(runs)
    .set({ createdAt: minutesAgo(30) })
    .where(eq(runs.id, accepted.runId));
  await backdateJob(acceptedJob);
  await service.completed(accepted.statusUrl, WITHIN_MS);
  await db
    .update(deliveries)
    .set({ nextAttemptAt: minutesAgo(30) })
    .where(eq(deliveries.sessionId, done.sessionId));
  await waitUntil(() => receiver.received.length === 2, "the callback is attempted again", 90_000);
  await receiver.close();
  assert.deepEqual(standIn.faults, []);
});

it("registers the functions again with a server that restarted unnoticed, before any job is lost", async () => {
  standIn.loseState();
  await waitUntil(() => standIn.isRegistered(), "the functions are registered again", WITHIN_MS);
  const session = await service.create("After an unnoticed restart");
  await service.completed(session.statusUrl);
});

it("says in /api/ready that the functions are not registered, while the server refuses them", async () => {
  standIn.set({ refusesRegistration: true });
  standIn.loseState();
  await waitUntil(async () => !(await readEngine()).ok, "the loss is noticed", WITHIN_MS);
  const { status, detail } = await readEngine();
  assert.equal(status, 503);
  assert.match(detail, /; the functions of the service are not registered there$/);
  standIn.set();
  await waitUntil(async () => (await readEngine()).ok, "the functions are registered", WITHIN_MS);
});
