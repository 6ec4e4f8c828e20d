import { and, eq, getTableColumns } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { sessions } from "#db/schema/index.ts";
import type { StartupStatus } from "#db/schema/unions.ts";

/** A session without its metadata: the service never reads that, and it may be megabytes. */
export type SessionRow = Omit<typeof sessions.$inferSelect, "metadata">;

const { metadata: _unread, ...columns } = getTableColumns(sessions);

/** The columns of {@link SessionRow}. */
export const sessionColumns: Omit<typeof sessions._.columns, "metadata"> = columns;

/** A session of this owner; another owner's is as unknown as one that never was. */
export async function findSession(
  db: Executor,
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(
      and(eq(sessions.id, sessionId), ownerId === undefined ? undefined : eq(sessions.ownerId, ownerId)),
    );
  return row;
}

/** The session for whose creation its owner used this key. */
export async function findSessionByIdempotencyKey(
  db: Executor,
  ownerId: string,
  key: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(and(eq(sessions.ownerId, ownerId), eq(sessions.idempotencyKey, key)));
  return row;
}

/** Locks a session's row until the transaction ends, so that its queue has one order. */
export async function lockSession(tx: Transaction, sessionId: string): Promise<SessionRow | undefined> {
  const [row] = await tx
    .select(sessionColumns)
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .for("update");
  return row;
}

/** Notes how far a session's workspace has come. */
export async function setStartupStatus(
  db: Executor,
  sessionId: string,
  startupStatus: StartupStatus,
): Promise<void> {
  await db.update(sessions).set({ startupStatus }).where(eq(sessions.id, sessionId));
}
