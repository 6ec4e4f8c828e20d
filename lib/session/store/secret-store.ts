import { and, asc, eq, inArray, notLike, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { type McpServerRow, sealedSecrets, sessions, siteData } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";

/** The tables with sealed values of sessions. */
const SEALED_TABLES = { secrets: sealedSecrets, siteData };
export type SealedTable = keyof typeof SEALED_TABLES;

/** A sealed value of a session. */
export type SealedRow = { sessionId: string; name: string; sealed: string };

/** Reads the secrets that a session has under these names. The map contains sealed values, keyed by name. */
export async function readSealedSecrets(
  db: Database,
  sessionId: string,
  names: string[],
): Promise<Map<string, string>> {
  const rows = await db
    .select({ name: sealedSecrets.name, sealed: sealedSecrets.sealed })
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), inArray(sealedSecrets.name, names)));
  return new Map(rows.map(({ name, sealed }) => [name, sealed]));
}

/**
 * SQL condition: the sealed value does not begin with the prefix of the current key. An old value that names no key has
 * no prefix, even if it is sealed with the current key. The prefix is not escaped: it contains no wildcards.
 */
const isNotCurrent = (table: SealedTable, currentPrefix: string) =>
  notLike(SEALED_TABLES[table].sealed, `${currentPrefix}%`);

/**
 * Lists at most `limit` values of a table without the prefix of the current key, ordered by session and name, starting after
 * `after`.
 */
export function listSealedWithOtherKey(
  db: Database,
  table: SealedTable,
  currentPrefix: string,
  after: { sessionId: string; name: string },
  limit: number,
): Promise<SealedRow[]> {
  const { sessionId, name, sealed } = SEALED_TABLES[table];
  return db
    .select({ sessionId, name, sealed })
    .from(SEALED_TABLES[table])
    .where(
      and(
        isNotCurrent(table, currentPrefix),
        sql`(${sessionId}, ${name}) > (${after.sessionId}, ${after.name})`,
      ),
    )
    .orderBy(asc(sessionId), asc(name))
    .limit(limit);
}

/** Counts the values without the prefix of the current key in all tables. */
export async function countSealedWithOtherKey(db: Database, currentPrefix: string): Promise<number> {
  const counts = await Promise.all(
    (["secrets", "siteData"] as const).map((table) =>
      db.$count(SEALED_TABLES[table], isNotCurrent(table, currentPrefix)),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Replaces sealed values that have not changed since they were read. @returns the number of replaced values. */
export async function replaceSealed(
  db: Database,
  table: SealedTable,
  rows: (SealedRow & { resealed: string })[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const replaced = await queryRows(
    db,
    sql`update ${SEALED_TABLES[table]} as stored set sealed = new.resealed
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as new ("sessionId" text, name text, sealed text, resealed text)
      where stored.session_id = new."sessionId" and stored.name = new.name and stored.sealed = new.sealed
      returning 1`,
  );
  return replaced.length;
}

/** The URLs in a session's row. */
type UrlRow = {
  sessionId: string;
  callbackUrl: string | null;
  mcpServers: Record<string, McpServerRow>;
};

/** Lists sessions in which a URL, masked or not, has a query or a fragment. The sessions are ordered by id. */
export const listSessionsWithQueries = (db: Database, after: string, limit: number): Promise<UrlRow[]> =>
  db
    .select({
      sessionId: sessions.id,
      callbackUrl: sessions.callbackUrl,
      mcpServers: sessions.mcpServers,
    })
    .from(sessions)
    .where(
      and(
        sql`${sessions.id} > ${after}`,
        sql`(${sessions.callbackUrl} ~ '[?#]' or ${sessions.mcpServers}::text ~ '[?#]')`,
      ),
    )
    .orderBy(asc(sessions.id))
    .limit(limit);

/**
 * Replaces the URLs in a session's row with masked URLs and stores the sealed originals, in one statement.
 *
 * @returns false if the row has changed since `before` was read; nothing is stored then.
 */
export async function sealUrls(
  db: Database,
  before: UrlRow,
  masked: Omit<UrlRow, "sessionId">,
  secrets: { name: string; sealed: string }[],
): Promise<boolean> {
  const rows = await queryRows(
    db,
    sql`with masked as (
        update ${sessions} set callback_url = ${masked.callbackUrl},
          mcp_servers = ${JSON.stringify(masked.mcpServers)}::jsonb
        where id = ${before.sessionId} and callback_url is not distinct from ${before.callbackUrl}
          and mcp_servers = ${JSON.stringify(before.mcpServers)}::jsonb
        returning id
      ), sealed as (
        insert into ${sealedSecrets} (session_id, name, sealed)
        select masked.id, s.name, s.sealed
        from masked, json_to_recordset(${JSON.stringify(secrets)}::json) as s (name text, sealed text)
      )
      select id from masked`,
  );
  return rows.length === 1;
}
