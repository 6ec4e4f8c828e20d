import { and, eq, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { failingEndpoints, sealedSecrets, sessions } from "#db/schema/index.ts";
import { CALLBACK_SECRETS, type SealedCallback } from "./secret/open-secrets.ts";

/** The host and port of a session's callback URL. All deliveries of an owner to the same host share one endpoint state. */
export const endpointHost: SQL<string | null> = sql<
  string | null
>`lower(substring(${sessions.callbackUrl} from '^[A-Za-z]+://([^/?#]*)'))`;

/** Join condition between a session and the row of its callback's host in `failing_endpoints`. */
export const isEndpointOfSession = and(
  eq(failingEndpoints.ownerId, sessions.ownerId),
  sql`${failingEndpoints.host} = ${endpointHost}`,
);

/** The names as SQL literals. If they were parameters, the database would plan the statement again for each attempt. */
const NAMES = sql.raw(CALLBACK_SECRETS.map((name) => `'${name}'`).join(", "));

/** A column with the sealed values of a session's callback, by name; null if there are none. */
export const sealedCallback = (
  sessionId: AnyPgColumn,
): SQL<SealedCallback | null> => sql<SealedCallback | null>`(
  select json_object_agg(${sealedSecrets.name}, ${sealedSecrets.sealed}) from ${sealedSecrets}
  where ${sealedSecrets.sessionId} = ${sessionId} and ${sealedSecrets.name} in (${NAMES}))`;

/** The stored state of a session's callback, apart from the session's row. */
export type CallbackState = {
  sealed: SealedCallback | null;
  /** When callbacks to its host began to be dropped; null if none was dropped since the last one that was accepted. */
  failingSince: Date | null;
  /** The time of the last failure, while callbacks to its host are disabled; otherwise null. */
  disabledAt: Date | null;
};

/** Reads the state of a session's callback in one statement; undefined if the session is gone. */
export async function readCallbackState(db: Executor, sessionId: string): Promise<CallbackState | undefined> {
  const [row] = await db
    .select({
      sealed: sealedCallback(sessions.id),
      failingSince: failingEndpoints.failingSince,
      disabledAt: failingEndpoints.disabledAt,
    })
    .from(sessions)
    .leftJoin(failingEndpoints, isEndpointOfSession)
    .where(eq(sessions.id, sessionId));
  return row;
}

/** Enables the endpoint of this session's callback by removing its failures, so that callbacks are sent again. */
export async function enableEndpoint(db: Executor, sessionId: string): Promise<void> {
  await db.delete(failingEndpoints).where(
    sql`(${failingEndpoints.ownerId}, ${failingEndpoints.host}) in (
      select ${sessions.ownerId}, ${endpointHost} from ${sessions} where ${sessions.id} = ${sessionId})`,
  );
}

/**
 * After this many days, a failing endpoint counts as unused. A disabled endpoint that is in use is probed every hour, which
 * renews its row.
 */
const UNUSED_DAYS = 30;

/** Removes failing endpoints to which nothing has been sent for 30 days. @returns how many. */
export async function pruneFailingEndpoints(db: Database): Promise<number> {
  const removed = await db
    .delete(failingEndpoints)
    .where(
      sql`greatest(${failingEndpoints.failingSince}, ${failingEndpoints.disabledAt})
        < now() - ${UNUSED_DAYS}::int * interval '1 day'`,
    )
    .returning({ host: failingEndpoints.host });
  return removed.length;
}
