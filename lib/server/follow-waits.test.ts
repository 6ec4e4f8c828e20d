import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eq } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { waitFor } from "#lib/browser/testing.ts";
import { createBrowserControl } from "#lib/browser/view/browser-control.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { openWaits } from "#lib/session/store/wait-store.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { followWaits } from "./follow-waits.ts";

const { db, close } = await openTestDatabase();
after(close);

/** Creates a session with a parked run that waits for control of the session's browser. */
async function parkForControl(sessionId: string): Promise<string> {
  const { runId } = await insertTestSession(db, sessionId);
  const wait = {
    callId: "",
    kind: "control",
    subjects: [],
    until: "any",
    deadlineAt: null,
    createdAt: new Date(),
  } as const;
  await db.transaction((tx) => openWaits(tx, { runId, sessionId }, [{ ...wait, subjects: [] }]));
  await db.update(runs).set({ parkedAt: new Date() }).where(eq(runs.id, runId));
  return runId;
}
const isParked = async (runId: string) => {
  const [run] = await db.select({ parkedAt: runs.parkedAt }).from(runs).where(eq(runs.id, runId));
  return run?.parkedAt !== null;
};

/**
 * Opens the browser control of two processes. Each process receives the other's messages until `end` disconnects it.
 */
function openControls() {
  const receivers = new Map<string, (word: string) => void>();
  const open = (self: string) =>
    createBrowserControl(
      {
        publish: (word) => setImmediate(() => [...receivers.values()].map((receive) => receive(word))),
        subscribe(receive) {
          receivers.set(self, receive);
          return () => receivers.delete(self);
        },
      },
      { self, confirmMs: 20 },
    );
  return { gone: open("gone"), here: open("here"), end: (name: string) => void receivers.delete(name) };
}

const sent: string[] = [];
const stopped: string[] = [];
const deps = {
  db,
  log: createEventLog(db, createMemoryBus()),
  jobs: { sendSoon: (jobs: { id: string }[]) => void sent.push(...jobs.map(({ id }) => id)) },
  stopRun: async (runId: string) => void stopped.push(runId),
  logger: { warn: (...args: unknown[]) => assert.fail(String(args)) } as never,
};

test("a turn that waits for control resumes once when control is returned", async () => {
  const { gone: other, here } = openControls();
  const runId = await parkForControl("ses_released");
  const waits = followWaits(deps, here);
  other.take("ses_released", "con_1");
  await waitFor(() => here.holderOf("ses_released") === "con_1", "the take arrived");
  await waits.sweep();
  assert.equal(await isParked(runId), true, "a person has control");
  other.release("ses_released", "con_1");
  await waitFor(() => sent.length > 0, "the turn's job is sent");
  assert.equal(await isParked(runId), false);
  await waits.sweep();
  assert.deepEqual(sent.splice(0), [`${runId}:2`]);
  waits.close();
});

test("the sweep wakes a turn that waits for control if the process of the holder has crashed", async () => {
  const { gone, here, end } = openControls();
  const runId = await parkForControl("ses_lost");
  const waits = followWaits(deps, here);
  gone.take("ses_lost", "con_1");
  await waitFor(() => here.holderOf("ses_lost") === "con_1", "the take arrived");
  end("gone");
  await waits.sweep();
  // The expired claim and the sweep both wake the turn. The job is sent after the commit that ends the parking.
  await waitFor(() => sent.length > 0, "the turn's job is sent");
  assert.equal(await isParked(runId), false);
  assert.deepEqual(sent.splice(0), [`${runId}:2`]);
  waits.close();
});

test("after a restart, the sweep wakes a turn that waits for control if no person has it", async () => {
  const runId = await parkForControl("ses_restarted");
  const waits = followWaits(deps, openControls().here);
  await waits.sweep();
  assert.equal(await isParked(runId), false);
  assert.deepEqual(sent.splice(0), [`${runId}:2`]);
  waits.close();
});

test("the sweep stops a parked turn whose stop was requested but not carried out", async () => {
  const runId = await parkForControl("ses_stopped");
  await db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, runId));
  const { gone: other, here } = openControls();
  other.take("ses_stopped", "con_1");
  const waits = followWaits(deps, here);
  await waits.sweep();
  assert.deepEqual(stopped.splice(0), [runId]);
  waits.close();
});
