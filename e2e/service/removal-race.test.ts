import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { queryRows } from "#db/statement.ts";
import { openTestPostgres, prepareTestDatabase } from "#db/testing.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { openTestService, type TestService, waitUntil } from "./testing.ts";
import { ask } from "./waiting/waiting-testing.ts";

const ROUNDS = 20;

let service: TestService;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
before(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "removal-race-"));
  // Postgres looks for deadlocks only after this time, so a longer time would hide short ones.
  const variables = await prepareTestDatabase(dataDir, "pg");
  await setDeadlockTimeout(variables.DATABASE_URL ?? "");
  service = await openTestService({ ...variables, SANDBOX: "unconfined" }, dataDir);
  receiver = await startReceiver([500]);
});
after(async () => {
  await service.close();
  await receiver.close();
});

async function setDeadlockTimeout(url: string): Promise<void> {
  const { db, close } = await openTestPostgres({ driver: "pg", url });
  const [row] = await queryRows<{ name: string }>(db, sql`select current_database() as name`);
  await db.execute(sql.raw(`alter database "${row?.name}" set deadlock_timeout = '20ms'`));
  await close();
}

const db = () => service.container.services.db;

/** Counts the deadlocks that Postgres has resolved in this database. */
async function countDeadlocks(): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    db(),
    sql`select pg_stat_get_db_deadlocks(oid)::int as count from pg_database where datname = current_database()`,
  );
  return row?.count ?? 0;
}

/** The calls that write to a session, by path below the session, with their bodies. */
const writes: [method: string, path: string, body?: unknown][] = [
  ["POST", "agent/messages", { text: "queued" }],
  ["POST", "agent/messages", { text: "steered", mode: "steer" }],
  ["POST", "agent/messages", { text: "instead", mode: "interrupt" }],
  ["POST", "agent/cancel", {}],
  ["PATCH", "budget", { maxTokens: 1_000_000 }],
  [
    "POST",
    "annotations/webhook",
    { event: "submit", annotations: [{ type: "note", selector: "h1", comment: "a" }] },
  ],
  ["POST", "share-links", { role: "view" }],
  ["POST", "callback/secret", { secret: "a secret with more than twenty characters" }],
  ["POST", "callback/enable"],
  ["POST", "share-links/revoke-all"],
  ["POST", "plan/mode", { mode: "plan_first" }],
  ["POST", "requirements", { requirements: [{ text: "The heading is larger." }] }],
];

test("writers that race with a deletion get an answer, and no transactions deadlock", async () => {
  // Every second turn parks with a question, which steers and deletions end.
  service.model.respondWith(({ answersSoFar, userText }) => {
    if (answersSoFar % 4 === 3) return { text: "Done." };
    const call =
      userText.includes("ask") && answersSoFar > 0
        ? ask("Which one?")
        : { name: "write_file", arguments: { path: "a.txt", content: "a" } };
    return { toolCalls: [call] };
  });
  const before = await countDeadlocks();
  for (let round = 0; round < ROUNDS; round++) {
    const { sessionId } = await service.create(round % 2 === 0 ? "begin" : "ask", {
      callback: { url: receiver.url, secret: "s" },
    });
    for (let turns = 0; turns < (round * 7) % 60; turns++) await nextTurn();
    const calls = [...writes, ...writes].map(([method, path, body]) =>
      service.call(method, `/api/sessions/${sessionId}/${path}`, body),
    );
    const removals = [0, 1].map(() => service.call("DELETE", `/api/sessions/${sessionId}`));
    const answers = await Promise.all([...calls, ...removals]);
    const failed = answers.filter(({ status }) => status >= 500);
    assert.deepEqual(await Promise.all(failed.map((answer) => answer.text())), []);
    assert.deepEqual(
      (await Promise.all(removals)).map(({ status }) => status).sort(),
      [200, 404],
      `round ${round}`,
    );
  }
  await waitUntil(async () => {
    const rows = await queryRows(db(), sql`select from sessions limit 1`);
    return rows.length === 0;
  }, "all sessions are removed");
  assert.equal((await countDeadlocks()) - before, 0);
});
