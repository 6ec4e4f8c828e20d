import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { removeSession } from "../removal/remove-session.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { findLeftoverRows } from "./leftover-store.ts";

const { db, client, close } = await openTestDatabase();
after(close);

describe("findLeftoverRows", () => {
  it("finds nothing after a removal, but finds rows of a table that the removal does not know", async () => {
    await insertTestSession(db, "ses_a");
    await insertTestSession(db, "ses_b");
    const before = await findLeftoverRows(db, ["ses_a"], undefined);
    assert.ok(before.some(({ table }) => table === "runs"));
    const removal = await removeSession(db, "ses_a", sessionRow({ id: "ses_a" }).ownerId);
    assert.ok(removal && removal.runIds.length > 0);
    assert.deepEqual(await findLeftoverRows(db, ["ses_a"], removal.runIds), []);
    assert.deepEqual(await findLeftoverRows(db, ["ses_a"], undefined), []);
    await db.execute(sql`create table notes (run_id text primary key, session_id text)`);
    await db.execute(sql`insert into notes values (${removal.runIds[0]}, 'ses_a'), ('run_b', 'ses_b')`);
    const left = [{ sessionId: "ses_a", table: "notes" }];
    assert.deepEqual(await findLeftoverRows(db, ["ses_a"], removal.runIds), left);
    assert.deepEqual(await findLeftoverRows(db, ["ses_a"], undefined), left);
  });

  it("can use an index in every table of the service when the runs are known", async () => {
    const { rows } = await client.query(`
      select tables.relname as name from pg_class tables
        join pg_attribute columns on columns.attrelid = tables.oid and columns.attname = 'session_id'
      where tables.relnamespace = 'public'::regnamespace and tables.relkind = 'r'
        and tables.relname not in ('removals', 'notes')
        and not exists (
          select from pg_index join pg_attribute first on first.attrelid = indrelid and first.attnum = indkey[0]
          where indrelid = tables.oid and indpred is null and first.attname in ('session_id', 'run_id'))`);
    assert.deepEqual(rows, []);
  });
});
