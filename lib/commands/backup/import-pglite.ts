import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import { LIST_COLUMNS, LIST_MIGRATIONS, LIST_SEQUENCES, quote } from "#db/backup/dump.ts";
import { BackupError, loadDatabase } from "#db/backup/load.ts";
import { BACKUP_FORMAT, copyName, MANIFEST_NAME, type Manifest } from "#db/backup/manifest.ts";
import { postgresFolder } from "#db/embedded/data-folder.ts";
import { lockFolder } from "#db/embedded/lock-folder.ts";
import { startServer } from "#db/embedded/open-embedded.ts";

/**
 * A folder with a lockfile, which contains the checksum of the last version of PGlite that the service used. This version
 * can open the database folders of all earlier versions of PGlite.
 */
const LOCKED = join(import.meta.dirname, "pglite");
const INSTALL_TIMEOUT_MS = 300_000;

/** The part of PGlite that this command uses. The package is not a dependency; the command installs it when it runs. */
type Pglite = {
  query: <Row>(text: string) => Promise<{ rows: Row[]; blob?: Blob }>;
  close: () => Promise<void>;
};

/**
 * Imports the PGlite database of an earlier version (`<dataDir>/db`) into a new embedded Postgres. The old folder is
 * renamed to `<dataDir>/db-pglite`.
 *
 * @throws BackupError if there is nothing to import, the new database already exists, or PGlite cannot be installed.
 */
export async function importPglite(dataDir: string): Promise<{ manifest: Manifest; movedTo: string }> {
  const old = join(dataDir, "db");
  if (!existsSync(join(old, "PG_VERSION"))) throw new BackupError(`there is no PGlite database in ${old}`);
  if (existsSync(postgresFolder(dataDir)))
    throw new BackupError(`${postgresFolder(dataDir)} already exists; nothing was imported`);
  const unlock = await lockFolder(dataDir);
  const staging = await mkdtemp(join(dataDir, "import-new-"));
  try {
    const dump = join(staging, "database");
    await mkdir(dump);
    const pglite = await openPglite(staging, old);
    await dumpPglite(pglite, dump).finally(() => pglite.close());
    const server = await startServer({ dataDir: staging });
    const client = new Client({ connectionString: server.url });
    let manifest: Manifest;
    try {
      await client.connect();
      manifest = await loadDatabase(client, dump);
    } finally {
      await client.end();
      await server.close();
    }
    const movedTo = join(dataDir, "db-pglite");
    await rename(postgresFolder(staging), postgresFolder(dataDir));
    await rename(old, movedTo);
    return { manifest, movedTo };
  } finally {
    await rm(staging, { recursive: true, force: true });
    await unlock();
  }
}

async function openPglite(staging: string, folder: string): Promise<Pglite> {
  const packages = join(staging, "packages");
  await mkdir(packages);
  for (const file of ["package.json", "package-lock.json"])
    await copyFile(join(LOCKED, file), join(packages, file));
  await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--global=false"], {
    cwd: packages,
    timeout: INSTALL_TIMEOUT_MS,
  }).catch((cause) => {
    throw new BackupError(`PGlite could not be installed from the npm registry: ${cause.message}`, {
      cause,
    });
  });
  const path = createRequire(join(packages, "package.json")).resolve("@electric-sql/pglite");
  const { PGlite } = (await import(pathToFileURL(path).href)) as {
    PGlite: { create: (folder: string) => Promise<Pglite> };
  };
  return PGlite.create(folder);
}

/**
 * Writes the same files as `dumpDatabase`, which does not support PGlite: PGlite copies a table into a blob and not to
 * a connection.
 */
async function dumpPglite(pglite: Pglite, folder: string): Promise<void> {
  const tables = await pglite.query<{ table: string; columns: string[] }>(LIST_COLUMNS);
  const migrations = await pglite.query<{ at: string }>(LIST_MIGRATIONS);
  const sequences = await pglite.query<{ name: string; value: string }>(LIST_SEQUENCES);
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    createdAt: new Date().toISOString(),
    migrations: migrations.rows.map(({ at }) => Number(at)),
    tables: [],
    sequences: sequences.rows.map(({ name, value }) => ({ name, lastValue: value })),
  };
  for (const { table, columns } of tables.rows) {
    const counted = await pglite.query<{ rows: number }>(`select count(*)::int as rows from ${quote(table)}`);
    const list = columns.map(quote).join(", ");
    const { blob } = await pglite.query(`copy ${quote(table)} (${list}) to '/dev/blob'`);
    await writeFile(
      join(folder, copyName(table)),
      Buffer.from((await blob?.arrayBuffer()) ?? new ArrayBuffer(0)),
    );
    manifest.tables.push({ name: table, columns, rows: counted.rows[0]?.rows ?? 0 });
  }
  await writeFile(join(folder, MANIFEST_NAME), JSON.stringify(manifest));
}
