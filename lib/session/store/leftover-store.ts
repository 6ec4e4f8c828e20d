import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { queryRows } from "#db/statement.ts";

/** A table that still has rows of a removed session. */
type LeftoverRows = { sessionId: string; table: string };

/**
 * A column that contains a session id. `isIndexed`: an index of the table begins with this column. `hasIndexedRun`: an
 * index of the table begins with `run_id`.
 */
type SessionColumn = { table: string; column: string; isIndexed: boolean; hasIndexedRun: boolean };

/** Names of columns that contain a session id. */
const COLUMNS = ["session_id", "parent_session_id", "root_session_id"];

/**
 * Finds rows of removed sessions in all tables that have a session column. It reads the columns from the catalogue, so
 * that new tables are included.
 *
 * @param runIds ids of the sessions' runs; undefined if they are unknown. They speed up the search in a table that has
 * an index by run but not by session. Without the ids, such a table is scanned once for all sessions.
 */
export async function findLeftoverRows(
  db: Database,
  sessionIds: readonly string[],
  runIds: readonly string[] | undefined,
): Promise<LeftoverRows[]> {
  if (sessionIds.length === 0) return [];
  const ids = toArray(sessionIds);
  const selects = (await listSessionColumns(db)).map(({ table, column, isIndexed, hasIndexedRun }): SQL => {
    const name = sql.identifier(column);
    const byRun =
      runIds && hasIndexedRun && !isIndexed ? sql`run_id = any(${toArray(runIds)}) and ` : sql.raw("");
    return sql`select ${name}::text as "sessionId", ${table}::text as "table"
      from ${sql.identifier(table)} where ${byRun}${name} = any(${ids})`;
  });
  selects.push(sql`select id, 'sessions' from sessions where id = any(${ids})`);
  return queryRows<LeftoverRows>(db, sql.join(selects, sql` union `));
}

const toArray = (texts: readonly string[]): SQL =>
  sql`array(select jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb))`;

/** Lists the session columns of all tables except `removals`, which contains the ids of removed sessions. */
const listSessionColumns = (db: Database): Promise<SessionColumn[]> =>
  queryRows<SessionColumn>(
    db,
    sql`select tables.relname::text as "table", columns.attname::text as "column",
        ${isLeading(sql`columns.attname`)} as "isIndexed", ${isLeading(sql`'run_id'`)} as "hasIndexedRun"
      from pg_class tables join pg_attribute columns on columns.attrelid = tables.oid
      where tables.relnamespace = 'public'::regnamespace and tables.relkind = 'r' and tables.relname <> 'removals'
        and columns.attname = any(${toArray(COLUMNS)}) and not columns.attisdropped
      order by 1, 2`,
  );

/** SQL condition: the table has a non-partial index that begins with this column. */
const isLeading = (column: SQL): SQL => sql`exists (
  select from pg_index
    join pg_attribute first on first.attrelid = indrelid and first.attnum = indkey[0]
  where indrelid = tables.oid and indpred is null and first.attname = ${column})`;
