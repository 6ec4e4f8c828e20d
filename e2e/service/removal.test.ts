import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { eq, sql } from "drizzle-orm";
import { engineRuns, runs } from "#db/schema/index.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { SHARED_BYTES_MAX } from "#lib/evidence/evidence.ts";
import { insertBytes } from "#lib/evidence/evidence-store.ts";
import { makeUnremovable } from "#lib/session/removal/remove-folder-testing.ts";
import { removeSession } from "#lib/session/removal/remove-session.ts";
import { listRemovals } from "#lib/session/store/removal-store.ts";
import { storeReport } from "./reports/reports-testing.ts";
import { OTHER_KEY, openTestService, type TestService, waitUntil } from "./testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined", CALLBACK_RETRY_BASE_MS: "60000" });
});
after(() => service.close());

const forever = () => new Promise<void>(() => {});
const db = () => service.container.services.db;

/**
 * Counts the large objects and the rows of every table. Leaves out the tables of the engine, the outbox, the table of
 * removals, and tables whose names begin with `__`.
 */
async function countAll(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const tables = await db().execute(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  for (const { name } of (tables as unknown as { rows: { name: string }[] }).rows) {
    if (/^(engine_|outbox|removals|__)/.test(name)) continue;
    const found = await db().execute(sql`select count(*)::int as count from ${sql.identifier(name)}`);
    counts[name] = (found as unknown as { rows: { count: number }[] }).rows[0]?.count ?? 0;
  }
  const large = await db().execute(sql`select count(*)::int as count from pg_largeobject_metadata`);
  counts.largeObjects = (large as unknown as { rows: { count: number }[] }).rows[0]?.count ?? 0;
  return counts;
}

/**
 * Creates a session that has, among other things, messages, secrets, an annotation, a delivery, a report, evidence and
 * a workspace file. Its first turn is still running.
 */
async function openFullSession() {
  const receiver = await startReceiver([500]);
  service.model.respondWith(({ userText, answersSoFar }) => {
    if (!userText.includes("fill it")) return undefined;
    if (answersSoFar > 0) return { text: "On and on.", hold: forever() };
    return {
      toolCalls: [{ name: "write_file", arguments: { path: "notes.txt", content: "words of the caller" } }],
    };
  });
  const session = await service.create("fill it", {
    callback: { url: receiver.url, secret: "of the callback" },
    mcpServers: { crm: { url: "https://crm.example/mcp", headers: { authorization: "Bearer of the crm" } } },
    metadata: { ticket: 1 },
  });
  const { sessionId, runId } = session;
  await service.model.waitForRequest(({ answersSoFar }) => answersSoFar > 0);
  await service.call("POST", `/api/sessions/${sessionId}/annotations/webhook`, {
    event: "submit",
    annotations: [{ type: "note", selector: "h1", comment: "bigger" }],
  });
  const followUp = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, {
    text: "and then",
  });
  assert.equal(followUp.status, 202);
  const evidence = { runId, kind: "html" as const, title: "t", url: null, mediaType: "text/html" };
  // Larger than evidence that is stored in the database, so that the session has a file, too.
  const bytes = Buffer.alloc(SHARED_BYTES_MAX + 1, "<p>page");
  await service.container.services.evidence.save({ ...evidence, sessionId, bytes });
  const path = await insertBytes(db(), Buffer.from("of a platform without a disk"));
  await db().execute(sql`
    insert into evidence (id, session_id, run_id, kind, title, media_type, size_bytes, path)
    values (${`evi_${sessionId}`}, ${sessionId}, ${runId}, 'html', 't', 'text/html', 28, ${path})`);
  await storeReport(service, sessionId);
  await waitUntil(() => receiver.received.length > 0, "a callback was attempted");
  return { ...session, receiver };
}

const folders = (sessionId: string) =>
  ["workspaces", "evidence"].map((name) => join(service.dataDir, name, sessionId));

describe("DELETE /api/sessions/:sessionId", () => {
  it("ends the turn, removes everything, and reports what it removed", async () => {
    // Stores the skill versions before the rows are counted, because the first session stores them and its deletion
    // does not remove them.
    await service.container.services.skills.store();
    const before = await countAll();
    const session = await openFullSession();
    const { sessionId, requestId, statusUrl, streamUrl, receiver } = session;
    for (const folder of folders(sessionId)) assert.ok(existsSync(folder), folder);
    const stream = await service.call("GET", streamUrl);
    const reading = stream.text();

    const other = await service.call("DELETE", `/api/sessions/${sessionId}`, undefined, {
      authorization: `Bearer ${OTHER_KEY}`,
    });
    assert.equal(other.status, 404);
    const response = await service.call("DELETE", `/api/sessions/${sessionId}`);
    const body = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    const { events, ...deleted } = body.deleted;
    assert.ok(events >= 4, `${events} events`);
    assert.deepEqual(
      { success: body.success, deleted, pending: body.pending },
      {
        success: true,
        pending: [],
        deleted: {
          sessions: 1,
          requests: 2,
          runs: 2,
          messages: 3,
          toolCalls: 1,
          deliverables: 0,
          annotations: 1,
          elicitations: 0,
          deliveries: 1,
          evidence: 3,
          evidenceBytes: 98 + SHARED_BYTES_MAX + 1,
          secrets: 2,
          shareLinks: 0,
          variantRevisions: 0,
          previews: 0,
          reports: 1,
          workspaces: 1,
          browsers: 0,
        },
      },
    );

    assert.deepEqual(await countAll(), before);
    for (const folder of folders(sessionId)) assert.ok(!existsSync(folder), folder);
    assert.match(await reading, /event: run\.started/, "the open stream has ended");
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/agent/status"],
      ["GET", "/messages"],
      ["GET", "/deliveries"],
      ["POST", "/agent/cancel"],
      ["GET", `/requests/${requestId}/stream`],
    ] as const) {
      const answer = await service.call(method, `/api/sessions/${sessionId}${path}`);
      assert.equal(answer.status, 404, path);
      assert.deepEqual(await answer.json(), { success: false, error: "no such session", code: "not_found" });
    }
    assert.equal((await service.call("GET", statusUrl)).status, 404);
    const { data } = await service.read<{ data: { id: string }[] }>("/api/sessions");
    assert.ok(!data.some(({ id }) => id === sessionId));

    const turns = async () => {
      const rows = await db().select({ id: engineRuns.functionId, state: engineRuns.state }).from(engineRuns);
      return rows.filter(({ id }) => id.includes("run-turn")).map(({ state }) => state);
    };
    await waitUntil(
      async () => (await turns()).every((state) => /failed|completed/.test(state)),
      "jobs ended",
    );
    assert.equal(receiver.received.length, 1, "the callback is not sent again");
    await receiver.close();
  });

  it("removes the session once if it is sent several times at once", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    const { sessionId } = await service.create("twice");
    const remove = () => service.call("DELETE", `/api/sessions/${sessionId}`);
    const answers = await Promise.all([remove(), remove(), remove()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
  });

  it("races with other requests, which are answered as before or after it, and leaves no row", async () => {
    service.model.respondWith(({ answersSoFar }) =>
      answersSoFar > 0
        ? { text: "Done.", delayMs: 10 }
        : { toolCalls: [{ name: "write_file", arguments: { path: "a", content: "a" } }], delayMs: 10 },
    );
    const answers = new Set<string>();
    const removed: string[] = [];
    const race = async (index: number) => {
      const { sessionId, requestId } = await service.create(`race ${index}`);
      const at = `/api/sessions/${sessionId}`;
      removed.push(sessionId);
      const ask = async (what: string, method: string, path: string, body?: unknown) => {
        const response = await service.call(method, at + path, body);
        await response.text();
        answers.add(`${what} ${response.status}`);
      };
      await pause(index * 7);
      await Promise.all([
        ...["queue", "steer", "interrupt"].map((mode) =>
          ask(mode, "POST", "/agent/messages", { text: "x", mode }),
        ),
        ask("cancel", "POST", "/agent/cancel"),
        ask("stream", "GET", `/requests/${requestId}/stream`),
        ask("annotation", "POST", "/annotations/webhook", { event: "submit", annotations: [] }),
        ask("retarget", "POST", "/browser", { url: "http://127.0.0.1:9/" }),
        ask("read", "GET", ""),
        pause(index % 5).then(() => ask("delete", "DELETE", "")),
      ]);
    };
    await Promise.all(Array.from({ length: 24 }, (_, index) => race(index)));
    const fine =
      /^(queue|steer|interrupt|cancel|retarget) (202|404)$|^(stream|annotation|read) (200|404)$|^delete 200$/;
    assert.deepEqual(
      [...answers].filter((answer) => !fine.test(answer)),
      [],
    );
    const remaining = await db().execute(sql`select id from sessions where id in ${removed}`);
    assert.deepEqual((remaining as unknown as { rows: unknown[] }).rows, []);
  });

  it("removes the sub-agents of a session with it", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    const sessions = [];
    for (const name of ["parent", "child", "grandchild", "stranger"])
      sessions.push(await service.create(name));
    const [parent = "", child = "", grandchild = "", stranger = ""] = sessions.map(
      ({ sessionId }) => sessionId,
    );
    for (const { statusUrl } of sessions) await service.completed(statusUrl);
    await db().execute(sql`update sessions set parent_session_id = ${parent} where id = ${child}`);
    await db().execute(sql`update sessions set parent_session_id = ${child} where id = ${grandchild}`);
    const { deleted } = await (await service.call("DELETE", `/api/sessions/${parent}`)).json();
    assert.deepEqual([deleted.sessions, deleted.requests, deleted.messages], [3, 3, 6]);
    for (const id of [parent, child, grandchild])
      assert.equal((await service.call("GET", `/api/sessions/${id}`)).status, 404);
    assert.equal((await service.call("GET", `/api/sessions/${stranger}`)).status, 200);
  });

  it("frees its idempotency key", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    const body = { idempotencyKey: "once" };
    const first = await service.create("again", body);
    await service.call("DELETE", `/api/sessions/${first.sessionId}`);
    const second = await service.create("again", body);
    assert.notEqual(second.sessionId, first.sessionId);
  });
});

it("the next start finishes a removal that a crash interrupted", async () => {
  const first = await openTestService({ SANDBOX: "unconfined" });
  const { dataDir } = first;
  first.model.respondWith(() => ({ text: "Done." }));
  const session = await first.create("half gone");
  await first.completed(session.statusUrl);
  const other = await first.create("other");
  await first.completed(other.statusUrl);
  const inside = (sessionId: string) =>
    ["workspaces", "evidence"].map((name) => join(dataDir, name, sessionId));
  for (const folder of [...inside(session.sessionId), ...inside(other.sessionId)]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "file"), "content");
  }
  // Simulates a process that ends after it has removed the rows and before it removes the files.
  await removeSession(first.container.services.db, session.sessionId, "owner");
  await first.close({ keepFiles: true });

  const second = await openTestService({ SANDBOX: "unconfined" }, dataDir);
  await waitUntil(() => !inside(session.sessionId).some(existsSync), "the folders have gone");
  assert.ok(inside(other.sessionId).every(existsSync), "the other session's folders stay");
  assert.equal((await second.call("GET", `/api/sessions/${session.sessionId}`)).status, 404);
  await second.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe("a workspace", () => {
  /** Runs a command in the workspace of a new session, and waits for the end of the turn. @returns the session's id. */
  async function runCommand(of: TestService, command: string): Promise<string> {
    of.model.respondWith(({ answersSoFar }) =>
      answersSoFar > 0 ? { text: "Done." } : { toolCalls: [{ name: "run_shell", arguments: { command } }] },
    );
    const { sessionId, statusUrl } = await of.create("fill it");
    await of.completed(statusUrl);
    return sessionId;
  }
  async function saveEvidence(of: TestService, sessionId: string): Promise<void> {
    const page = { kind: "html" as const, title: "t", url: null, mediaType: "text/html" };
    const [run] = await of.container.services.db
      .select({ id: runs.id })
      .from(runs)
      .where(eq(runs.sessionId, sessionId));
    const bytes = Buffer.from("<p>page");
    await of.container.services.evidence.save({ ...page, sessionId, runId: run?.id ?? "", bytes });
  }

  it("with paths longer than PATH_MAX is removed before DELETE answers", async () => {
    const name = "d".repeat(200);
    const sessionId = await runCommand(service, "echo x > file");
    const [workspace = "", evidence = ""] = folders(sessionId);
    // A command of the session would be ended, because such a folder cannot be measured.
    const script = `for n in $(seq 60); do mkdir ${name} && cd ${name} && echo x > file; done; pwd | wc -c`;
    const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: workspace });
    assert.ok(Number(stdout) > 12_000);
    await saveEvidence(service, sessionId);
    const answer = await service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.deepEqual([answer.status, (await answer.json()).pending], [200, []]);
    assert.deepEqual([workspace, evidence].map(existsSync), [false, false]);
  });

  it("with a file that cannot be removed is pending, and its removal is retried, also after a restart", async () => {
    const first = await openTestService({ SANDBOX: "unconfined" });
    const { dataDir } = first;
    const sessionId = await runCommand(first, "echo x > file");
    await saveEvidence(first, sessionId);
    const workspace = join(dataDir, "workspaces", sessionId);
    const release = await makeUnremovable(workspace);
    const answer = await first.call("DELETE", `/api/sessions/${sessionId}`);
    assert.equal(answer.status, 200);
    const [pending, ...others] = (await answer.json()).pending;
    assert.deepEqual(
      [pending.sessionId, pending.part, others],
      [sessionId, "workspace", []],
      "only the workspace is pending",
    );
    assert.match(pending.reason, /^a file or folder could not be removed \(E[A-Z]+\)$/);
    assert.ok(!existsSync(join(dataDir, "evidence", sessionId)));
    // The sweep deletes the record of a complete removal after a week. This removal is pending, so its record must
    // stay.
    await first.container.sweepRemovals(new Date(Date.now() + 8 * 24 * 3_600_000));
    await first.close({ keepFiles: true });

    const second = await openTestService({ SANDBOX: "unconfined" }, dataDir);
    await second.container.sweepRemovals(new Date());
    assert.ok(existsSync(workspace), "the workspace cannot be removed yet");
    await release();
    await second.container.sweepRemovals(new Date(Date.now() + 8 * 24 * 3_600_000));
    assert.ok(!existsSync(workspace));
    const pendingLater = await listRemovals(second.container.services.db, new Date());
    assert.deepEqual(pendingLater, [], "no removal is pending");
    await second.close();
    await rm(dataDir, { recursive: true, force: true });
  });
});

it("files that a slow tool writes after the removal are removed later", async () => {
  service.model.respondWith(() => ({ text: "Done." }));
  const { sessionId, statusUrl } = await service.create("left behind");
  await service.completed(statusUrl);
  await service.call("DELETE", `/api/sessions/${sessionId}`);
  const [folder = ""] = folders(sessionId);
  await mkdir(folder);
  const { sweepRemovals } = service.container;
  await sweepRemovals(new Date(Date.now() + 5 * 60_000));
  assert.ok(existsSync(folder), "it is too early for the second removal of files");
  await sweepRemovals(new Date(Date.now() + 11 * 60_000));
  assert.ok(!existsSync(folder));
});

describe("GET /api/sessions/:sessionId", () => {
  it("answers the profile and the state of the session without secrets", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    const session = await service.create("Tell me", {
      callback: { url: "http://127.0.0.1:9/hook", events: ["run.completed"], secret: "canary-secret" },
      mcpServers: { crm: { url: "https://crm.example/mcp", headers: { authorization: "canary-header" } } },
      metadata: { ticket: "T-1" },
      userId: "ada",
      source: "cli",
      systemPrompt: "Be brief.",
      targetUrl: "https://shop.example/",
      tools: { exclude: ["run_shell"] },
      delegation: { maxLiveChildren: 2 },
    });
    await service.completed(session.statusUrl);
    const response = await service.call("GET", `/api/sessions/${session.sessionId}`);
    const text = await response.text();
    assert.doesNotMatch(text, /canary/);
    const { createdAt, updatedAt, ...profile } = JSON.parse(text).session;
    assert.ok(Date.parse(createdAt) <= Date.parse(updatedAt));
    assert.deepEqual(profile, {
      id: session.sessionId,
      title: "Tell me",
      targetUrl: "https://shop.example/",
      source: "cli",
      isStructured: false,
      turnState: "idle",
      lastOutcome: "succeeded",
      shareUrl: session.shareUrl,
      state: "done",
      stateReason: null,
      parentSessionId: null,
      userId: "ada",
      metadata: { ticket: "T-1" },
      targetPageUrls: [],
      outputSchema: null,
      systemPrompt: "Be brief.",
      subAgents: false,
      startupStatus: "uninitialized",
      tools: { include: [], exclude: ["run_shell"], externalTurnExclude: [] },
      mcpServers: { crm: { url: "https://crm.example/mcp", type: "http" } },
      capabilities: { browser: true, sandbox: true },
      delegation: { maxLiveChildren: 2, maxLiveBrowsers: 2 },
      interaction: null,
      callback: {
        url: "http://127.0.0.1:9/hook",
        events: ["run.completed"],
        isSigned: true,
        previousSecretExpiresAt: null,
        failingSince: null,
        disabledAt: null,
      },
    });
  });
});
