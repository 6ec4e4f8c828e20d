import { createReadStream } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import type { Client } from "pg";
import { from } from "pg-copy-streams";
import { migrationsFolder } from "../drivers/migrations.ts";
import { LIST_COLUMNS, quote } from "./dump.ts";
import { copyName, MANIFEST_NAME, type Manifest, manifestSchema } from "./manifest.ts";

/** Thrown if a backup cannot be restored. The message says why. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupError";
  }
}

/** Parses JSON. @returns the value; undefined if the text is not valid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the manifest of a backup.
 *
 * @throws BackupError when the folder contains no backup, or a backup that this version of the service cannot read.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST_NAME), "utf8").catch((cause) => {
    throw new BackupError("this is not a backup of the service: it has no manifest", { cause });
  });
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw new BackupError("the backup's manifest cannot be read; a newer version may have made it", {
      cause: parsed.error,
    });
  const available = new Set((await readJournal()).entries.map(({ when }) => when));
  if (parsed.data.migrations.some((at) => !available.has(at)))
    throw new BackupError(
      "the backup was made by a newer version of the service; restore it with that version",
    );
  return parsed.data;
}

/**
 * Replaces the content of a database with a backup: creates the tables in the backup's schema version, copies the rows,
 * and applies the later migrations.
 *
 * @param client a superuser's connection to a database that nothing else uses.
 * @throws BackupError when {@link readManifest} refuses the backup, when the backup contains an unknown table, or when
 * the number of a table's rows differs from the manifest.
 */
export async function loadDatabase(client: Client, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await client.query(
    "drop schema public cascade; create schema public; drop schema if exists drizzle cascade",
  );
  await migrateUpTo(client, manifest.migrations);
  await client.query("begin");
  try {
    // Turns off foreign key checks. Tables refer to each other in cycles, so every order of loading would violate some
    // of the checks. The rows are one consistent snapshot, so all references are valid in the end.
    await client.query("set local session_replication_role = replica");
    const existing = await client.query<{ table: string }>(LIST_COLUMNS);
    const names = new Set(existing.rows.map(({ table }) => table));
    for (const { name, columns, rows } of manifest.tables) {
      if (!names.has(name))
        throw new BackupError(
          `the backup contains a table ${name} that does not exist in its schema version`,
        );
      const stream = client.query(from(`copy ${quote(name)} (${columns.map(quote).join(", ")}) from stdin`));
      await pipeline(createReadStream(join(folder, copyName(name))), stream);
      if (stream.rowCount !== rows)
        throw new BackupError(`the backup is damaged: ${name} contains ${stream.rowCount} of ${rows} rows`);
    }
    for (const { name, lastValue } of manifest.sequences)
      await client.query("select setval($1::regclass, $2::bigint)", [`public.${quote(name)}`, lastValue]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
  await migrate(drizzle({ client }), { migrationsFolder });
  return manifest;
}

type Journal = { entries: { when: number }[] };

const readJournal = async (): Promise<Journal> =>
  JSON.parse(await readFile(join(migrationsFolder, "meta", "_journal.json"), "utf8"));

/**
 * Applies only the given migrations. Drizzle applies every migration in the journal of a folder, so this function makes
 * a temporary copy of the folder and shortens the journal of the copy.
 */
async function migrateUpTo(client: Client, migrations: number[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "agent-session-migrations-"));
  try {
    await cp(migrationsFolder, folder, { recursive: true });
    const journal = await readJournal();
    const entries = journal.entries.filter(({ when }) => migrations.includes(when));
    await writeFile(join(folder, "meta", "_journal.json"), JSON.stringify({ ...journal, entries }));
    await migrate(drizzle({ client }), { migrationsFolder: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
