import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { insertBareSession } from "#lib/events/testing.ts";
import { readLatestEvents } from "./read-latest-events.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test("events after `lastSeq` are excluded, because the live connection delivers them", async () => {
  const sessionId = await insertBareSession(database.db);
  const log = createEventLog(database.db, createMemoryBus());
  const skip = (serverId: string) =>
    log.transact(sessionId, async (_tx, emit) => {
      emit({
        kind: "mcp.skipped",
        requestId: null,
        runId: null,
        source: "api",
        serverId,
        reason: "it is dead",
      });
    });
  await skip("first");
  await skip("second");
  const serversUpTo = async (lastSeq: number) =>
    (await readLatestEvents(log, sessionId, lastSeq)).map(
      (event) => event.kind === "mcp.skipped" && event.serverId,
    );
  assert.deepEqual(await serversUpTo(1), ["first"]);
  assert.deepEqual(await serversUpTo(2), ["first", "second"]);
  assert.deepEqual(await serversUpTo(0), []);
});
