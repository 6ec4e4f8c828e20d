import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { sql } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { sessions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { insertBareSession } from "#lib/events/testing.ts";
import { listSessions } from "./list-store.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/** Reads how many rows of the table, and how many entries of its list index, the transaction has read. */
const countReads = (tx: Transaction) =>
  queryRows<{ scanned: number; listed: number }>(
    tx,
    sql`select pg_stat_get_xact_tuples_returned('sessions'::regclass)::int as scanned,
      pg_stat_get_xact_tuples_returned('sessions_owner_recent'::regclass)::int as listed`,
  );

it("a page of the list reads only its own sessions, however many are stored", async () => {
  const { db } = database;
  const id = await insertBareSession(db);
  await db.execute(sql`insert into sessions
    select (jsonb_populate_record(s, jsonb_build_object('id', 'ses_' || n,
      'created_at', s.created_at - n * interval '1 second'))).*
    from sessions s, generate_series(1, 5000) n where s.id = ${id}`);
  await db.execute(sql`analyze ${sessions}`);
  await db.transaction(async (tx) => {
    const first = await listSessions(tx, "owner", { limit: 20 });
    assert.deepEqual(
      first.map((session) => session.id),
      [id, ...Array.from({ length: 19 }, (_, index) => `ses_${index + 1}`)],
    );
    const last = first[19];
    assert.ok(last);
    const second = await listSessions(tx, "owner", { limit: 20, before: last });
    assert.deepEqual([second[0]?.id, second[19]?.id], ["ses_20", "ses_39"]);
    const [reads] = await countReads(tx);
    assert.ok(reads);
    assert.equal(reads.scanned, 0);
    assert.ok(reads.listed >= 40 && reads.listed <= 42, `${reads.listed} entries of the index`);
  });
});
