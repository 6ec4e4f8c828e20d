import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Client } from "pg";
import { dumpDatabase } from "#db/backup/dump.ts";
import { BackupError, loadDatabase, readManifest } from "#db/backup/load.ts";
import type { Manifest } from "#db/backup/manifest.ts";
import { postgresFolder } from "#db/embedded/data-folder.ts";
import { DatabaseLockedError, lockFolder } from "#db/embedded/lock-folder.ts";
import { startServer } from "#db/embedded/open-embedded.ts";
import { prepareSocket } from "#db/embedded/socket.ts";
import { syncFileSystem, syncFolder } from "#lib/disk/durable.ts";
import { packFolders, unpack } from "./tar.ts";

/** What a backup contains in addition to the database. Browser profiles are left out, because they are disposable. */
const FOLDERS = ["workspaces", "evidence", "api-key", "encryption-key"];
const DATABASE = "database";

/**
 * Writes the embedded database, the workspaces, the evidence and the generated keys to one archive (`.tar.gz`). The
 * service may be running. The database is copied before the files, so that the archive contains all files that rows of
 * the copied database refer to. When the call returns, the archive is on disk.
 *
 * @throws BackupError if there is no database or the archive already exists.
 */
export async function writeBackup(dataDir: string, archive: string): Promise<Manifest> {
  if (!existsSync(join(postgresFolder(dataDir), "PG_VERSION")))
    throw new BackupError(`there is no embedded database in ${dataDir}`);
  if (existsSync(archive)) throw new BackupError(`${archive} already exists`);
  const staging = await mkdtemp(join(dataDir, "backup-new-"));
  const draft = `${archive}.part`;
  try {
    const folder = join(staging, DATABASE);
    await mkdir(folder);
    const manifest = await withServer(dataDir, (client) => dumpDatabase(client, folder));
    // Only the owner may read the archive, because it contains the keys.
    await rm(draft, { force: true });
    const file = await open(draft, "wx", 0o600);
    try {
      await packFolders(draft, [
        { folder: staging, names: [DATABASE] },
        { folder: dataDir, names: FOLDERS.filter((name) => existsSync(join(dataDir, name))) },
      ]);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, archive);
    await syncFolder(dirname(resolve(archive)));
    return manifest;
  } finally {
    await rm(draft, { force: true });
    await rm(staging, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * Restores an archive into a data folder. No service may be using the folder. A database, keys and files that the
 * folder already contains are moved to `<dataDir>/replaced-<time>`.
 *
 * @param options.replaces whether the folder may already contain a database.
 * @returns the manifest of the backup, and the folder that contains the previous content, if there was any.
 */
export async function restoreBackup(
  dataDir: string,
  archive: string,
  { replaces }: { replaces: boolean },
): Promise<{ manifest: Manifest; movedTo: string | undefined }> {
  if (!existsSync(archive)) throw new BackupError(`${archive} does not exist`);
  await mkdir(dataDir, { recursive: true });
  const unlock = await lockFolder(dataDir);
  const staging = await mkdtemp(join(dataDir, "restore-new-"));
  try {
    if (existsSync(postgresFolder(dataDir)) && !replaces)
      throw new BackupError(
        `${dataDir} already contains a database: pass --replace to move it aside and restore the backup`,
      );
    await unpack(archive, staging).catch((cause) => {
      throw new BackupError(`${archive} cannot be read: ${cause.message}`, { cause });
    });
    const folder = join(staging, DATABASE);
    await readManifest(folder);
    const server = await startServer({ dataDir: staging });
    const manifest = await withClient(server.url, (client) => loadDatabase(client, folder)).finally(
      server.close,
    );
    const movedTo = await setAside(dataDir);
    for (const name of ["postgres", ...FOLDERS])
      if (existsSync(join(staging, name))) await rename(join(staging, name), join(dataDir, name));
    await syncFileSystem(dataDir);
    return { manifest, movedTo };
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 10 });
    await unlock();
  }
}

/** Moves existing content into a subfolder. @returns the subfolder, or undefined if there was no content. */
async function setAside(dataDir: string): Promise<string | undefined> {
  const names = (await readdir(dataDir)).filter((name) => ["postgres", "db", ...FOLDERS].includes(name));
  if (names.length === 0) return undefined;
  const target = join(dataDir, `replaced-${new Date().toISOString().replaceAll(":", "-")}`);
  await mkdir(target, { mode: 0o700 });
  for (const name of names) await rename(join(dataDir, name), join(target, name));
  return target;
}

/**
 * Connects to the database in a data folder. Uses the database server of the running service. If no service runs,
 * starts a server for this call.
 */
async function withServer<Result>(
  dataDir: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const unlock = await lockFolder(dataDir).catch((error) => {
    if (!(error instanceof DatabaseLockedError)) throw error;
  });
  if (!unlock) {
    const socket = await prepareSocket(postgresFolder(dataDir));
    return withClient(socket.url, work).finally(socket.close);
  }
  try {
    const server = await startServer({ dataDir });
    return await withClient(server.url, work).finally(server.close);
  } finally {
    await unlock();
  }
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
