import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq, sql } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";

import type { BrowserRecords } from "../browser-records.ts";
import { insertTestHost, insertTestSession, TEST_SEALER, waitFor } from "../testing.ts";
import { readBrowser } from "./browser-store.ts";
import { createStoredRecords, selectBrowserPage } from "./stored-records.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const SILENT = { info() {}, debug() {}, warn() {}, error() {} };
const CHANGE = "change 1";
/** What a host and a service record of a browser that runs. */
const RECORDED: Record<string, (records: BrowserRecords, sessionId: string) => Promise<unknown>> = {
  fields: (records, sessionId) =>
    records.patch({ sessionId, change: CHANGE, fields: { lastError: "failed" } }),
  "an event": (records, sessionId) =>
    records.emit({
      sessionId,
      change: "change 2",
      event: { kind: "control.taken", name: "Ada", from: null },
    }),
  "its end": (records, sessionId) => records.dropClaim({ sessionId, change: CHANGE }),
};

for (const [what, record] of Object.entries(RECORDED))
  test(`a page is selected while a host records ${what}, without a deadlock`, async () => {
    const { db } = database;
    const log = createEventLog(db, createMemoryBus());
    const sessionId = await insertTestSession(db);
    const hostId = await insertTestHost(db);
    const records = createStoredRecords(
      { db, log, sealer: TEST_SEALER, logger: SILENT, recordingBytesMax: 0 },
      hostId,
    );
    await records.move({ sessionId, change: CHANGE, event: "provision", fields: {} });
    await records.move({ sessionId, change: "change 2", event: "cameUp", fields: {} });
    const waiting = (count: number) =>
      waitFor(async () => {
        const rows = await queryRows(
          db,
          sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length === count;
      }, `${count} transactions wait`);
    let both: Promise<unknown>[] = [];
    await db.transaction(async (tx) => {
      await tx.select().from(sessions).where(eq(sessions.id, sessionId)).for("update");
      both = [selectBrowserPage({ db, log }, sessionId, "https://shop.example/")];
      await waiting(1);
      both.push(record(records, sessionId));
      await waiting(2);
    });
    await Promise.all(both);
    assert.equal((await readBrowser(db, sessionId))?.desiredUrl, "https://shop.example/");
  });
