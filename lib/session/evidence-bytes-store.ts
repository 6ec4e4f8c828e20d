import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";

/** How the path of bytes begins that lie in the database. */
const PREFIX = "database:";

/** Whether a row's path leads into the database, and not below the data folder. */
export const isInDatabase = (path: string): boolean => path.startsWith(PREFIX);

const oidOf = (path: string) => Number(path.slice(PREFIX.length));

/** The drivers' results differ in type only. */
async function readRow<Row>(db: Database, statement: SQL): Promise<Row | undefined> {
  return ((await db.execute(statement)) as unknown as { rows: Row[] }).rows[0];
}

/**
 * Keeps bytes as a large object, which needs no table and is part of a dump. Source: Postgres manual, Large Objects.
 *
 * @returns the path for the row.
 */
export async function insertBytes(db: Database, bytes: Uint8Array): Promise<string> {
  const text = Buffer.from(bytes).toString("base64");
  const row = await readRow<{ oid: number | string }>(
    db,
    sql`select lo_from_bytea(0, decode(${text}, 'base64')) as oid`,
  );
  if (!row) throw new Error("the database kept no large object");
  return `${PREFIX}${row.oid}`;
}

/** @throws when there are none. */
export async function readBytes(db: Database, path: string): Promise<Buffer> {
  const row = await readRow<{ text: string }>(
    db,
    sql`select encode(lo_get(${oidOf(path)}::oid), 'base64') as text`,
  );
  return Buffer.from(row?.text ?? "", "base64");
}

/** Forgets bytes. */
export async function deleteBytes(db: Database, path: string): Promise<void> {
  await db.execute(sql`select lo_unlink(${oidOf(path)}::oid)`);
}
