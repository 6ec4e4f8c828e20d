import { and, asc, eq, inArray, ne, notLike, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { browserHosts, type McpServerRow, sealedSecrets, sessions, siteData } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";

/**
 * The columns with sealed values; their names begin with `sealed`. `owner` and `name` identify a row: the session and the
 * name of the value, or the host.
 */
export const SEALED_COLUMNS = {
  secrets: {
    table: sealedSecrets,
    owner: sealedSecrets.sessionId,
    name: sealedSecrets.name,
    sealed: sealedSecrets.sealed,
  },
  siteData: { table: siteData, owner: siteData.sessionId, name: siteData.name, sealed: siteData.sealed },
  hosts: {
    table: browserHosts,
    owner: browserHosts.id,
    name: sql<string>`''::text`,
    sealed: browserHosts.sealedToken,
  },
};
export type SealedColumn = keyof typeof SEALED_COLUMNS;

/** A sealed value. */
export type SealedRow = { owner: string; name: string; sealed: string };

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

/** Stores a secret of a session. It replaces the secret that the session has under this name. */
export async function storeSealedSecret(
  db: Database,
  { sessionId, name, sealed }: typeof sealedSecrets.$inferInsert,
): Promise<void> {
  await db
    .insert(sealedSecrets)
    .values({ sessionId, name, sealed })
    .onConflictDoUpdate({ target: [sealedSecrets.sessionId, sealedSecrets.name], set: { sealed } });
}

/** Removes a secret of a session, if there is one. */
export async function removeSealedSecret(db: Database, sessionId: string, name: string): Promise<void> {
  await db
    .delete(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
}

/**
 * SQL condition: the sealed value does not begin with the prefix of the current key. An old value that names no key has
 * no prefix, even if it is sealed with the current key. The prefix is not escaped: it contains no wildcards. The host
 * that is a process of the service itself has no token, and an empty text in its place.
 */
const isNotCurrent = (column: SealedColumn, currentPrefix: string) => {
  const { sealed } = SEALED_COLUMNS[column];
  return and(notLike(sealed, `${currentPrefix}%`), ne(sealed, ""));
};

/**
 * Lists at most `limit` values of a column without the prefix of the current key, ordered by owner and name, starting
 * after `after`.
 */
export function listSealedWithOtherKey(
  db: Database,
  column: SealedColumn,
  currentPrefix: string,
  after: { owner: string; name: string },
  limit: number,
): Promise<SealedRow[]> {
  const { table, owner, name, sealed } = SEALED_COLUMNS[column];
  return db
    .select({ owner, name, sealed })
    .from(table)
    .where(
      and(isNotCurrent(column, currentPrefix), sql`(${owner}, ${name}) > (${after.owner}, ${after.name})`),
    )
    .orderBy(asc(owner), asc(name))
    .limit(limit);
}

/** Counts the values without the prefix of the current key in all columns. */
export async function countSealedWithOtherKey(db: Database, currentPrefix: string): Promise<number> {
  // The cast is safe: these are the names of the columns.
  const columns = Object.keys(SEALED_COLUMNS) as SealedColumn[];
  const counts = await Promise.all(
    columns.map((column) => db.$count(SEALED_COLUMNS[column].table, isNotCurrent(column, currentPrefix))),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Replaces sealed values that have not changed since they were read. @returns the number of replaced values. */
export async function replaceSealed(
  db: Database,
  column: SealedColumn,
  rows: (SealedRow & { resealed: string })[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const { table, owner, name, sealed } = SEALED_COLUMNS[column];
  const replaced = await queryRows(
    db,
    sql`update ${table} set ${sql.identifier(sealed.name)} = new.resealed
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as new (owner text, name text, sealed text, resealed text)
      where ${owner} = new.owner and ${name} = new.name and ${sealed} = new.sealed
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
