import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eq } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { waitFor } from "#lib/browser/testing.ts";
import { createBrowserControl } from "#lib/browser/view/browser-control.ts";
import type { ControlState } from "#lib/browser/view/control-state.ts";
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

/** Opens the browser control of two processes. Each receives the other's messages. */
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
      { self },
    );
  return { other: open("other"), here: open("here") };
}

/** What the host of a session says. */
const stateOf = (sessionId: string, stamp: number, connectionId: string | null): ControlState => ({
  sessionId,
  hostId: "bh_1",
  stamp,
  holder: connectionId === null ? null : { connectionId, name: "Ada", expiry: null },
  ended: connectionId === null ? "given_back" : null,
  isPrivate: false,
});

/** What the hosts answer now, by session. */
const answers = new Map<string, ControlState>();
const sent: string[] = [];
const stopped: string[] = [];
const deps = {
  db,
  log: createEventLog(db, createMemoryBus()),
  jobs: { sendSoon: (jobs: { id: string }[]) => void sent.push(...jobs.map(({ id }) => id)) },
  stopRun: async (runId: string) => void stopped.push(runId),
  readControl: async (sessionId: string) => answers.get(sessionId),
  logger: { warn: (...args: unknown[]) => assert.fail(String(args)) } as never,
};

test("a turn that waits for control resumes once when control is returned", async () => {
  const { other, here } = openControls();
  const runId = await parkForControl("ses_released");
  const waits = followWaits(deps, here);
  const held = stateOf("ses_released", 1, "con_1");
  answers.set("ses_released", held);
  other.apply(held);
  await waitFor(() => here.holderOf("ses_released") === "con_1", "the take arrived");
  await waits.sweep();
  assert.equal(await isParked(runId), true, "a person has control");
  const free = stateOf("ses_released", 2, null);
  answers.set("ses_released", free);
  other.apply(free);
  await waitFor(() => sent.length > 0, "the turn's job is sent");
  assert.equal(await isParked(runId), false);
  await waits.sweep();
  assert.deepEqual(sent.splice(0), [`${runId}:2`]);
  waits.close();
});

test("the sweep wakes a turn that waits for control if the host says that control is free", async () => {
  const { here } = openControls();
  const runId = await parkForControl("ses_lost");
  const waits = followWaits(deps, here);
  here.apply(stateOf("ses_lost", 1, "con_1"));
  // The message with the end of control was lost.
  answers.set("ses_lost", stateOf("ses_lost", 2, null));
  await waits.sweep();
  // The corrected state and the sweep both wake the turn. The job is sent after the commit that ends the parking.
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
  const { here } = openControls();
  const held = stateOf("ses_stopped", 1, "con_1");
  answers.set("ses_stopped", held);
  here.apply(held);
  const waits = followWaits(deps, here);
  await waits.sweep();
  assert.deepEqual(stopped.splice(0), [runId]);
  waits.close();
});
