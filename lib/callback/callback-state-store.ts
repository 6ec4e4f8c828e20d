import { and, eq, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { agents, deliveries, failingEndpoints, sealedSecrets, sessions } from "#db/schema/index.ts";
import { CALLBACK_SECRETS, type SealedCallback } from "./secret/open-secrets.ts";

/**
 * The host and port of a session's callback URL. All deliveries of an owner to the same host share one endpoint state.
 */
export const endpointHost: SQL<string | null> = sql<
  string | null
>`lower(substring(${sessions.callbackUrl} from '^[A-Za-z]+://([^/?#]*)'))`;

/**
 * Joins a delivery with the session whose callback receives it: the delivery's session, or the root session if a
 * sub-agent waits for a person.
 */
export const isCallbackSession: SQL = sql`${sessions.id} = coalesce((select ${agents.rootSessionId} from ${agents}
  where ${agents.sessionId} = ${deliveries.sessionId}), ${deliveries.sessionId})`;

/** Joins a session with the row of `failing_endpoints` for the session's owner and callback host. */
export const isEndpointOfSession = and(
  eq(failingEndpoints.ownerId, sessions.ownerId),
  sql`${failingEndpoints.host} = ${endpointHost}`,
);

/**
 * `CALLBACK_SECRETS` as SQL literals. With parameters, the database would plan the statement again for each attempt.
 */
const NAMES = sql.raw(CALLBACK_SECRETS.map((name) => `'${name}'`).join(", "));

/** Builds a column with the encrypted values of a session's callback, by name; null if there are none. */
export const sealedCallback = (
  sessionId: AnyPgColumn,
): SQL<SealedCallback | null> => sql<SealedCallback | null>`(
  select json_object_agg(${sealedSecrets.name}, ${sealedSecrets.sealed}) from ${sealedSecrets}
  where ${sealedSecrets.sessionId} = ${sessionId} and ${sealedSecrets.name} in (${NAMES}))`;

/** The part of a callback's state that is not stored in the session's row. */
export type CallbackState = {
  sealed: SealedCallback | null;
  /**
   * When callbacks to the host began to fail: the time of the first dropped callback since the last accepted one. Null
   * if no callback was dropped since then.
   */
  failingSince: Date | null;
  /** If callbacks to the host are disabled, the time of the last dropped callback; otherwise null. */
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

/** Enables the endpoint of this session's callback again, by removing its recorded failures. */
export async function enableEndpoint(db: Executor, sessionId: string): Promise<void> {
  await db.delete(failingEndpoints).where(
    sql`(${failingEndpoints.ownerId}, ${failingEndpoints.host}) in (
      select ${sessions.ownerId}, ${endpointHost} from ${sessions} where ${sessions.id} = ${sessionId})`,
  );
}

/**
 * After this many days, a failing endpoint counts as unused. The days are counted from the first failure, or from the
 * last failure if the endpoint is disabled. A disabled endpoint that is in use is probed every hour, and each failed
 * probe renews its row.
 */
const UNUSED_DAYS = 30;

/** Removes the rows of failing endpoints that count as unused. @returns the number of removed rows. */
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
