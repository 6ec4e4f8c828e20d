import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { to } from "pg-copy-streams";
import { BACKUP_FORMAT, copyName, MANIFEST_NAME, type Manifest } from "./manifest.ts";

/** Selects the service's tables with their columns. Omits generated columns, because no value can be inserted there. */
export const LIST_COLUMNS = `
  select table_name as "table", array_agg(column_name::text order by ordinal_position) as columns
  from information_schema.columns
  where table_schema = 'public' and is_generated = 'NEVER'
  group by table_name order by table_name`;
const LIST_MIGRATIONS = `select created_at::text as at from drizzle.__drizzle_migrations order by created_at`;
const LIST_SEQUENCES = `
  select sequencename as name, coalesce(last_value, start_value)::text as value
  from pg_sequences where schemaname = 'public' order by sequencename`;

/**
 * Writes a consistent snapshot of all rows to a folder. The service may keep running.
 *
 * @param client a connection that nothing else uses.
 */
export async function dumpDatabase(client: Client, folder: string): Promise<Manifest> {
  await client.query("begin transaction isolation level repeatable read read only");
  try {
    const tables = await client.query<{ table: string; columns: string[] }>(LIST_COLUMNS);
    const migrations = await client.query<{ at: string }>(LIST_MIGRATIONS);
    const sequences = await client.query<{ name: string; value: string }>(LIST_SEQUENCES);
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      createdAt: new Date().toISOString(),
      migrations: migrations.rows.map(({ at }) => Number(at)),
      tables: [],
      sequences: sequences.rows.map(({ name, value }) => ({ name, lastValue: value })),
    };
    for (const { table, columns } of tables.rows) {
      const stream = client.query(to(`copy ${quote(table)} (${columns.map(quote).join(", ")}) to stdout`));
      await pipeline(stream, createWriteStream(join(folder, copyName(table))));
      manifest.tables.push({ name: table, columns, rows: stream.rowCount ?? 0 });
    }
    await writeFile(join(folder, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`);
    return manifest;
  } finally {
    await client.query("commit");
  }
}

/** Quotes a name as an SQL identifier. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
