import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { deliverables, plans, requests, runs, waits } from "#db/schema/index.ts";
import type { PlanItemStatus, PlanMode } from "#db/schema/unions.ts";
import { openTestDatabase } from "#db/testing.ts";
import { findSessionRuns, listSessions } from "../list/list-store.ts";
import { projectSessionState } from "../list/project-session-state.ts";
import { findSession } from "../store/session-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { readAgentStatus } from "./agent-status.ts";

const { db, close } = await openTestDatabase();
const deployment = { maxLiveChildren: 4, maxLiveBrowsers: 4 };
after(close);

/** Inserts a second request with a queued run. */
async function addWaiting(sessionId: string) {
  const [id, origin] = [`req_waiting_${sessionId}`, "external" as const];
  await db.insert(requests).values({ id, sessionId, position: 2, mode: "queue", origin, bodyHash: "hash" });
  await db
    .insert(runs)
    .values({ id: `run_waiting_${sessionId}`, sessionId, requestId: id, attempt: 1, origin });
}

describe("agent status", () => {
  test("shows the running turn, the number of queued requests, and the effective caps", async () => {
    const { runId } = await insertTestSession(db, "ses_status");
    await db.update(runs).set({ startedAt: new Date() }).where(eq(runs.id, runId));
    await addWaiting("ses_status");
    const session = await findSession(db, "ses_status");
    assert.ok(session);
    assert.deepEqual(await readAgentStatus(db, session, { maxLiveChildren: 2, maxLiveBrowsers: 4 }), {
      turnState: "running",
      waitingOn: null,
      activeRunId: runId,
      lastRunId: runId,
      deliverable: null,
      delegation: { maxLiveChildren: 2, maxLiveBrowsers: 2 },
      startupStatus: "uninitialized",
      lastRun: null,
      queued: 1,
    });
  });

  test("a list names the same wait as the status: control before sub-agents", async () => {
    const sessionId = "ses_two_waits";
    const { runId } = await insertTestSession(db, sessionId);
    await db.update(runs).set({ startedAt: new Date(), parkedAt: new Date() }).where(eq(runs.id, runId));
    const wait = { runId, sessionId, subjects: [] };
    await db.insert(waits).values([
      { ...wait, callId: "call_1", kind: "agents" },
      { ...wait, callId: "", kind: "control" },
    ]);
    const session = await findSession(db, sessionId);
    assert.ok(session);
    assert.equal((await findSessionRuns(db, [sessionId])).open.get(sessionId)?.waitsFor, "control");
    assert.equal((await readAgentStatus(db, session, deployment)).waitingOn?.kind, "control");
  });

  test("is compacting while the running run compacts its context", async () => {
    const { runId } = await insertTestSession(db, "ses_compacting");
    await db.update(runs).set({ startedAt: new Date(), isCompacting: true }).where(eq(runs.id, runId));
    const session = await findSession(db, "ses_compacting");
    assert.ok(session);
    assert.equal((await readAgentStatus(db, session, deployment)).turnState, "compacting");
  });

  test("of a structured session has a pending deliverable between two attempts, and the failed one of a retry that was stopped before it started", async () => {
    const sessionId = "ses_retried";
    const { runId, requestId } = await insertTestSession(db, sessionId);
    await db
      .update(runs)
      .set({ state: "errored", error: "overloaded", startedAt: new Date(), endedAt: new Date() })
      .where(eq(runs.id, runId));
    await db.insert(deliverables).values({ runId, sessionId, status: "failed", error: "overloaded" });
    const retry = { id: "run_retry", sessionId, requestId, attempt: 2, origin: "retry" as const };
    await db.insert(runs).values(retry);
    const session = await findSession(db, sessionId);
    assert.ok(session);
    const structured = { ...session, outputSchema: { type: "object" } };
    const waiting = await readAgentStatus(db, structured, deployment);
    assert.deepEqual([waiting.turnState, waiting.deliverable], ["running", { runId, status: "pending" }]);
    await db.update(runs).set({ state: "cancelled", endedAt: new Date() }).where(eq(runs.id, retry.id));
    const stopped = { runId: retry.id, sessionId, status: "failed" as const, error: "the turn was stopped" };
    await db.insert(deliverables).values(stopped);
    const ended = await readAgentStatus(db, structured, deployment);
    assert.deepEqual(
      [ended.turnState, ended.lastRunId, ended.lastRun?.outcome, ended.deliverable],
      ["idle", retry.id, "cancelled", { runId: retry.id, status: "failed", error: "the turn was stopped" }],
    );
  });

  test("before the first run has started has no run and no deliverable", async () => {
    const { runId } = await insertTestSession(db, "ses_new");
    await db.update(runs).set({ state: "pending" }).where(eq(runs.id, runId));
    const session = await findSession(db, "ses_new");
    assert.ok(session);
    const status = await readAgentStatus(db, { ...session, outputSchema: { type: "object" } }, deployment);
    assert.deepEqual(
      [status.turnState, status.activeRunId, status.lastRunId, status.deliverable, status.queued],
      ["running", null, null, null, 0],
    );
  });
});

describe("the list of sessions", () => {
  test("pages by time and id, and reads the runs of all sessions at once", async () => {
    const all = await listSessions(db, "owner", { limit: 100 });
    const pages: string[] = [];
    for (let last = all[-1]; ; ) {
      const [row] = await listSessions(db, "owner", { limit: 1, ...(last && { before: last }) });
      if (!row) break;
      pages.push(row.id);
      last = row;
    }
    assert.deepEqual(
      pages,
      all.map(({ id }) => id),
    );
    assert.equal("metadata" in (all[0] ?? {}), false);
    const ids = all.map(({ id }) => id);
    const { open, last } = await findSessionRuns(db, ids);
    assert.deepEqual(open.get("ses_status"), {
      state: "running",
      attempt: 1,
      isCompacting: false,
      question: null,
      waitsFor: null,
      exhausted: null,
    });
    assert.equal(last.get("ses_status")?.state, "running");
    assert.equal(open.get("ses_retried"), undefined);
    assert.deepEqual(last.get("ses_retried"), {
      state: "cancelled",
      error: null,
      pageError: null,
      deliverable: { status: "failed", error: "the turn was stopped" },
      awaitsGo: false,
    });
    assert.equal(last.get("ses_new"), undefined);
    const none = await findSessionRuns(db, []);
    assert.equal(none.last.size + none.open.size, 0);
  });

  test("marks sessions in plan-first mode whose plan has open items", async () => {
    const plan = (mode: PlanMode, ...statuses: PlanItemStatus[]) => ({
      mode,
      items: statuses.map((status, index) => ({ id: `p${index}`, text: "Hide the banner", status })),
    });
    const cases = {
      ses_plan_waits: [plan("plan_first", "dropped", "todo"), true],
      ses_plan_dropped: [plan("plan_first", "dropped"), false],
      ses_plan_done: [plan("plan_first", "done", "dropped"), false],
      ses_plan_begun: [plan("plan_first", "done", "in_progress"), true],
      ses_plan_empty: [plan("plan_first"), false],
      ses_plan_agreed: [plan("agreed", "todo"), false],
      ses_plan_off: [plan("off", "todo"), false],
    } as const;
    for (const [sessionId, [values]] of Object.entries(cases)) {
      const { runId } = await insertTestSession(db, sessionId);
      await db.update(runs).set({ startedAt: new Date() }).where(eq(runs.id, runId));
      await db.insert(plans).values({ sessionId, ...values });
    }
    const { last } = await findSessionRuns(db, Object.keys(cases));
    for (const [sessionId, [, awaitsGo]] of Object.entries(cases))
      assert.equal(last.get(sessionId)?.awaitsGo, awaitsGo, sessionId);
  });
});

test("a run that ends or begins during a read is seen as one or the other, in lists and in the status", async () => {
  const sessionId = "ses_flipping";
  const { runId } = await insertTestSession(db, sessionId);
  const session = await findSession(db, sessionId);
  assert.ok(session);
  const running = { state: "running" as const, startedAt: new Date(), endedAt: null };
  let isReading = true;
  const flip = async () => {
    while (isReading)
      for (const change of [running, { state: "succeeded" as const, endedAt: new Date() }])
        await db.update(runs).set(change).where(eq(runs.id, runId));
  };
  await db.update(runs).set(running).where(eq(runs.id, runId));
  const flipping = flip();
  const seen = new Set<string>();
  for (let reads = 0; reads < 100 || seen.size < 4; reads++) {
    const { open, last } = await findSessionRuns(db, [sessionId]);
    seen.add(projectSessionState(open.get(sessionId), last.get(sessionId)).state);
    const { turnState, activeRunId, lastRun } = await readAgentStatus(db, session, deployment);
    seen.add(`${turnState} ${activeRunId === runId} ${lastRun?.outcome}`);
  }
  isReading = false;
  await flipping;
  assert.deepEqual([...seen].sort(), ["done", "idle false succeeded", "running true undefined", "working"]);
});
