import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { SHARED_BYTES_MAX } from "#lib/evidence/evidence.ts";
import { armFaults } from "#lib/faults/fault-point.ts";
import { openTestService, type TestService, waitUntil } from "./testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({
    SANDBOX: "unconfined",
    RETENTION_SESSION_DAYS: "30",
    RETENTION_EVIDENCE_DAYS: "7",
    RETENTION_DELIVERY_DAYS: "7",
  });
});
after(() => service.close());
afterEach(() => armFaults(undefined));

const db = () => service.container.services.db;
const retention = () => {
  assert.ok(service.container.retention);
  return service.container.retention;
};

/** Creates a session with evidence, and waits until its turn has ended. */
async function openFinished(more: Record<string, unknown> = {}) {
  service.model.respondWith(() => ({ text: "Done." }));
  const session = await service.create("do it", more);
  await service.completed(session.statusUrl);
  const { sessionId, runId } = session;
  const page = { kind: "html" as const, title: "t", url: null, mediaType: "text/html" };
  const evidence = await service.container.services.evidence.save({
    ...page,
    sessionId,
    runId,
    // Larger than evidence that is stored in the database.
    bytes: Buffer.alloc(SHARED_BYTES_MAX + 1, "<p>page"),
  });
  return { ...session, evidenceFile: join(service.dataDir, "evidence", sessionId, evidence.id) };
}

/**
 * Sets the times of a session to `days` days ago: its creation and last use, and the creation of its events, evidence
 * and deliveries.
 */
async function age(sessionId: string, days: number): Promise<void> {
  const then = sql`now() - make_interval(days => ${days}::int)`;
  await db().execute(
    sql`update sessions set updated_at = ${then}, created_at = ${then} where id = ${sessionId}`,
  );
  await db().execute(sql`update events set created_at = ${then} where session_id = ${sessionId}`);
  await db().execute(sql`update evidence set created_at = ${then} where session_id = ${sessionId}`);
  await db().execute(sql`update deliveries set created_at = ${then} where session_id = ${sessionId}`);
}

const isThere = async (sessionId: string) =>
  (await service.call("GET", `/api/sessions/${sessionId}`)).status === 200;

async function readEvents(event: string, sessionId?: string) {
  const lines = await service.readSecurityLog();
  return lines.filter((line) => line.event === event && (sessionId ?? line.sessionId) === line.sessionId);
}

/** Finds and removes a batch of old sessions, like the scheduled job. @returns the number of removed sessions. */
async function removeOld(): Promise<number> {
  return retention().removeSessions(await retention().findSessions());
}

describe("retention of sessions", () => {
  it("removes finished sessions after the configured time without use, with a verified erasure", async () => {
    const [old, recent] = [await openFinished(), await openFinished()];
    await age(old.sessionId, 31);
    await age(recent.sessionId, 29);
    assert.equal(await removeOld(), 1);
    assert.deepEqual([await isThere(old.sessionId), await isThere(recent.sessionId)], [false, true]);
    assert.ok(!existsSync(old.evidenceFile));
    const [removed] = await readEvents("session.removed", old.sessionId);
    assert.equal(removed?.actor, "retention");
    assert.equal((await readEvents("erasure.verified", old.sessionId)).length, 1);
  });

  it("keeps sessions with an open run, and sessions that were used recently in any way", async () => {
    service.model.respondWith(() => ({ text: "On and on.", hold: new Promise(() => {}) }));
    const open = await service.create("never ends");
    await service.model.waitForRequest(({ userText }) => userText.includes("never ends"));
    await age(open.sessionId, 400);
    const remarked = await openFinished();
    await age(remarked.sessionId, 400);
    await service.call("POST", `/api/sessions/${remarked.sessionId}/annotations/webhook`, {
      event: "submit",
      annotations: [{ type: "note", selector: "h1", comment: "bigger" }],
    });
    const driven = await openFinished();
    await age(driven.sessionId, 400);
    await db().execute(
      sql`insert into browsers (session_id, status) values (${driven.sessionId}, 'expired')`,
    );
    assert.equal(await removeOld(), 0);
    for (const { sessionId } of [open, remarked, driven]) assert.ok(await isThere(sessionId));
    await service.call("DELETE", `/api/sessions/${open.sessionId}`);
  });

  it("keeps a session that gets a message after it was found and before it is removed", async () => {
    const { sessionId } = await openFinished();
    await age(sessionId, 400);
    const found = await retention().findSessions();
    assert.ok(found.some(({ id }) => id === sessionId));
    const sent = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text: "more" });
    assert.equal(sent.status, 202);
    assert.equal(await retention().removeSessions(found), 0);
    assert.ok(await isThere(sessionId));
  });

  it("removes the session's tree with its root, and keeps it if a sub-agent was used recently", async () => {
    const [root, child] = [await openFinished(), await openFinished()];
    await db().execute(
      sql`update sessions set parent_session_id = ${root.sessionId} where id = ${child.sessionId}`,
    );
    await db().execute(sql`
      insert into agents (session_id, parent_session_id, root_session_id, depth, name, objective, browser,
        spawn_run_id, spawn_call_id, spawn_index)
      values (${child.sessionId}, ${root.sessionId}, ${root.sessionId}, 1, 'a', 'b', 'none', ${root.runId}, 'c', 0)`);
    await age(root.sessionId, 400);
    assert.equal(await removeOld(), 0);
    await age(child.sessionId, 400);
    assert.equal(await removeOld(), 1);
    assert.deepEqual([await isThere(root.sessionId), await isThere(child.sessionId)], [false, false]);
    assert.equal((await readEvents("erasure.verified", child.sessionId)).length, 1);
  });

  it("is finished and verified by the sweep if it is interrupted after the rows are removed", async () => {
    const { sessionId, evidenceFile } = await openFinished();
    await age(sessionId, 400);
    armFaults({ point: "removal-half-done", nth: 1, action: "throw", afterMs: 0 });
    await assert.rejects(removeOld(), /injected fault/);
    armFaults(undefined);
    assert.ok(existsSync(evidenceFile));
    assert.deepEqual(await readEvents("erasure.verified", sessionId), []);
    await service.container.sweepRemovals(new Date());
    assert.ok(!existsSync(evidenceFile));
    assert.equal((await readEvents("erasure.verified", sessionId)).length, 1);
    await service.container.sweepRemovals(new Date());
    assert.equal((await readEvents("erasure.verified", sessionId)).length, 1, "once");
  });
});

describe("an incomplete erasure", () => {
  it("of rows is an alarm and pending in the answer of DELETE, and is verified when they are gone", async () => {
    const { sessionId } = await openFinished();
    await db().execute(sql`create table stray_notes (session_id text)`);
    await db().execute(sql`insert into stray_notes values (${sessionId})`);
    const { pending } = await (await service.call("DELETE", `/api/sessions/${sessionId}`)).json();
    assert.deepEqual(pending, [{ sessionId, part: "rows", reason: "rows are left in stray_notes" }]);
    await service.container.sweepRemovals(new Date());
    const failed = await readEvents("erasure.failed", sessionId);
    assert.deepEqual(
      failed.map(({ level, left }) => [level, left]),
      [[50, ["rows: rows are left in stray_notes"]]],
      "the failure is reported once",
    );
    const readDetail = async () => (await service.container.services.readiness()).database;
    assert.match((await readDetail()).detail, /; 1 removed session not erased completely$/);
    assert.ok((await readDetail()).ok, "requests are still served");

    await db().execute(sql`drop table stray_notes`);
    await service.container.sweepRemovals(new Date());
    assert.equal((await readEvents("erasure.verified", sessionId)).length, 1);
    assert.doesNotMatch((await readDetail()).detail, /erased/);
  });

  it("of files is an alarm too, also in a folder that the removal does not cover", async () => {
    const { sessionId } = await openFinished();
    const folder = join(service.dataDir, "exports", sessionId);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "file"), "content");
    const { pending } = await (await service.call("DELETE", `/api/sessions/${sessionId}`)).json();
    assert.deepEqual(pending, [{ sessionId, part: "workspace", reason: "there are files of it in exports" }]);
    assert.equal((await readEvents("erasure.failed", sessionId)).length, 1);
    await rm(folder, { recursive: true });
    await service.container.sweepRemovals(new Date());
    assert.equal((await readEvents("erasure.verified", sessionId)).length, 1);
  });
});

describe("retention of evidence and deliveries", () => {
  it("removes old evidence with its file, and keeps the session and recent evidence", async () => {
    const [old, recent] = [await openFinished(), await openFinished()];
    await age(old.sessionId, 8);
    assert.equal(await retention().removeEvidence(null), null, "there is no further batch");
    assert.deepEqual([existsSync(old.evidenceFile), existsSync(recent.evidenceFile)], [false, true]);
    const { evidence } = service.container.services;
    assert.deepEqual(await evidence.list(old.sessionId), []);
    assert.equal((await evidence.list(recent.sessionId)).length, 1);
    assert.ok(await isThere(old.sessionId));
    assert.ok((await readEvents("records.removed")).some(({ records }) => records === "evidence"));
  });

  it("keeps the row of a file that cannot be removed, raises an alarm, and removes both later", async () => {
    const { sessionId, evidenceFile } = await openFinished();
    await age(sessionId, 8);
    await rm(evidenceFile);
    // The service cannot remove the evidence, because a folder is in the place of the file.
    await mkdir(evidenceFile);
    await retention().removeEvidence(null);
    const { evidence } = service.container.services;
    assert.equal((await evidence.list(sessionId)).length, 1);
    assert.equal((await readEvents("erasure.failed", sessionId)).length, 1);
    await rm(evidenceFile, { recursive: true });
    // The service keeps the row of a missing file, because the file may be in the data folder of another process.
    await retention().removeEvidence(null);
    assert.equal((await evidence.list(sessionId)).length, 1);
    await writeFile(evidenceFile, "found");
    await retention().removeEvidence(null);
    assert.deepEqual(await evidence.list(sessionId), []);
  });

  it("removes old ended deliveries, and keeps open ones", async () => {
    const receiver = await startReceiver([200]);
    const ended = await openFinished({ callback: { url: receiver.url } });
    const open = await openFinished();
    const count = async (sessionId: string) =>
      (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/deliveries`)).data.length;
    await waitUntil(async () => {
      const { rows } = (await db().execute(
        sql`select 1 from deliveries where session_id = ${ended.sessionId} and state <> 'delivered'`,
      )) as unknown as { rows: unknown[] };
      return rows.length === 0 && (await count(ended.sessionId)) > 0;
    }, "callbacks were delivered");
    await db().execute(sql`
      insert into deliveries (id, session_id, run_id, event, body, state)
      values ('whd-open', ${open.sessionId}, ${open.runId}, 'run.completed', '{}', 'pending')`);
    for (const { sessionId } of [ended, open]) await age(sessionId, 8);
    assert.equal(await retention().removeDeliveries(), false);
    assert.deepEqual([await count(ended.sessionId), await count(open.sessionId)], [0, 1]);
    await db().execute(sql`delete from deliveries where id = 'whd-open'`);
    await receiver.close();
  });
});

it("a service without retention settings removes nothing", async () => {
  const other = await openTestService();
  assert.equal(other.container.retention, undefined);
  await other.close();
});
