import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { inboxItems } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { lockSession } from "../store/session-store.ts";
import { approveOutsideCall, approveScriptCall } from "./approvals.ts";

const { db, close } = await openTestDatabase();
after(close);
const deps = { db, log: createEventLog(db, createMemoryBus()) };

const call = { toolCallId: "call", toolName: "write_file", input: { path: "a.txt" } };

const ask = {
  "of another agent": (sessionId: string) => approveOutsideCall(deps, { sessionId, call, timeoutMs: 60_000 }),
  "in a script": (sessionId: string) =>
    approveScriptCall(deps, { sessionId, runId: `run_${sessionId}`, call, timeoutMs: 60_000 }),
};

/** Decides about the item of a session after a repeated call has read it as open, and before the call gets the lock. */
async function decideMeanwhile(
  sessionId: string,
  repeat: () => Promise<unknown>,
  state: "approved" | "denied",
) {
  let repeated: Promise<unknown> | undefined;
  await db.transaction(async (tx: Transaction) => {
    await lockSession(tx, sessionId);
    repeated = repeat();
    for (let isWaiting = false; !isWaiting; ) {
      const { rows } = (await db.execute(
        sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )) as unknown as { rows: unknown[] };
      isWaiting = rows.length > 0;
    }
    await tx
      .update(inboxItems)
      .set({ state, settledAt: new Date() })
      .where(eq(inboxItems.sessionId, sessionId));
  });
  return repeated;
}

describe("a call whose item is decided while the call is repeated", () => {
  for (const [name, repeat] of Object.entries(ask))
    for (const state of ["approved", "denied"] as const)
      it(`${name} is ${state}, and asks no second time`, async () => {
        const sessionId = `ses_${name.length}_${state}`;
        await insertTestSession(db, sessionId);
        const first = await repeat(sessionId);
        assert.equal(first.state, "waiting");
        const repeated = await decideMeanwhile(sessionId, () => repeat(sessionId), state);
        assert.equal((repeated as typeof first).state, state);
        assert.equal(
          (await db.select().from(inboxItems).where(eq(inboxItems.sessionId, sessionId))).length,
          1,
        );
      });
});
