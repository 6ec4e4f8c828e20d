import assert from "node:assert/strict";
import { after, test } from "node:test";
import { requests, runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { findStatus } from "../store/run-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";

const { db, close } = await openTestDatabase();
after(close);

const ownerId = "owner";
const find = (sessionId: string, requestId: string, owner = ownerId) =>
  findStatus(db, { sessionId, requestId, ownerId: owner });
const bodyHash = "hash";

test("the newest run determines a request's status", async () => {
  const { requestId, runId } = await insertTestSession(db, "ses_a");
  assert.deepEqual(await find("ses_a", requestId), {
    kind: "found",
    run: { id: runId, requestId, state: "running", attempt: 1 },
    joined: undefined,
  });
  const retry = { id: "run_retry", sessionId: "ses_a", requestId, attempt: 2, origin: "retry" as const };
  await db.insert(runs).values(retry);
  assert.deepEqual(await find("ses_a", requestId), {
    kind: "found",
    run: { id: "run_retry", requestId, state: "pending", attempt: 2 },
    joined: undefined,
  });
});

test("the joined turn determines a steer's status, until the steer has its own run", async () => {
  const origin = "external" as const;
  const steer = {
    id: "req_steer",
    sessionId: "ses_a",
    position: 2,
    mode: "steer" as const,
    origin,
    bodyHash,
  };
  await db.insert(requests).values({ ...steer, joinedRunId: "run_ses_a", joinedAfterSeq: 1 });
  const joined = await find("ses_a", "req_steer");
  const run = { id: "run_retry", requestId: "req_ses_a", state: "pending", attempt: 2 };
  assert.deepEqual(joined, { kind: "found", run, joined: { requestId: "req_ses_a", afterSeq: 1 } });
  await db
    .insert(runs)
    .values({ id: "run_own", sessionId: "ses_a", requestId: "req_steer", attempt: 1, origin });
  const own = await find("ses_a", "req_steer");
  assert.deepEqual(own.kind === "found" && own.run.id, "run_own");
});

test("sessions of other owners and requests of other sessions are unknown", async () => {
  const { requestId } = await insertTestSession(db, "ses_b");
  assert.deepEqual(await find("ses_b", requestId, "somebody"), { kind: "unknown_session" });
  assert.deepEqual(await find("ses_none", requestId), { kind: "unknown_session" });
  assert.deepEqual(await find("ses_a", requestId), { kind: "unknown_request" });
  assert.deepEqual(await find("ses_a", "req_none"), { kind: "unknown_request" });
});
