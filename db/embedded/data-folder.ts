import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { databaseAccount } from "./account.ts";
import { findPrograms, makeExecutableForAll, type PostgresPrograms } from "./programs.ts";
import { WAL_SEGMENT_BYTES } from "./settings.ts";
import {
  copyTemplate,
  ensureTemplate,
  finishDataFolder,
  makeTemplate,
  movePreparedCopy,
} from "./template.ts";

/** Thrown if the data folder of the service cannot be used. The message says how to fix it. */
export class DataFolderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DataFolderError";
  }
}

/** A data folder on which a server can start, and the Postgres programs that can open it. */
type PreparedFolder = { folder: string; programs: PostgresPrograms; isNew: boolean };

/** Returns the folder of the embedded database. */
export const postgresFolder = (dataDir: string): string => join(dataDir, "postgres");

/**
 * Ensures that `<dataDir>/postgres` is a complete data folder. If it does not exist or is empty, it is created as a
 * copy of the template. The caller must hold the lock of `dataDir`.
 *
 * @throws DataFolderError when the folder is damaged.
 * @throws PostgresMissingError when no installed Postgres can open the folder.
 */
export async function prepareDataFolder(dataDir: string): Promise<PreparedFolder> {
  const folder = postgresFolder(dataDir);
  const major = await readMajor(folder);
  if (major === undefined && existsSync(folder) && (await readdir(folder)).length > 0)
    throw new DataFolderError(
      `${folder} holds files but no complete database; restore a backup (npm run restore), or move it away`,
    );
  const found = await findPrograms(major);
  const programs = databaseAccount() ? await makeExecutableForAll(found) : found;
  if (major !== undefined) {
    await checkLogFiles(folder);
    return { folder, programs, isNew: false };
  }
  await createDataFolder(dataDir, folder, programs);
  return { folder, programs, isNew: true };
}

/** Creates the folder under a temporary name and renames it at the end, so that a crash leaves no incomplete folder. */
async function createDataFolder(dataDir: string, folder: string, programs: PostgresPrograms): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  for (const name of await readdir(dataDir))
    if (name.startsWith("postgres-new-")) await rm(join(dataDir, name), { recursive: true, force: true });
  const parent = await mkdtemp(join(dataDir, "postgres-new-"));
  const created = join(parent, "data");
  const template = await ensureTemplate(programs).catch((error) => {
    // The template cannot be cached, because `node_modules` is read-only. In this case, the database is initialised
    // directly in the new folder.
    if (error.code !== "EACCES" && error.code !== "EROFS") throw error;
  });
  if (template === undefined) {
    await mkdir(created, { mode: 0o700 });
    await makeTemplate(programs, created);
    await finishDataFolder(created);
  } else if (!(await movePreparedCopy(template, created))) await copyTemplate(template, created);
  await rm(folder, { recursive: true, force: true });
  await rename(created, folder);
  await rm(parent, { recursive: true, force: true });
  const handle = await open(dataDir, "r");
  await handle.sync().finally(() => handle.close());
}

/** Reads the major version of Postgres that created a data folder; undefined if the folder contains no `PG_VERSION`. */
async function readMajor(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, "PG_VERSION"), "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/**
 * Detects truncated files of the write-ahead log by their size, which is fixed. Postgres does not report such a file:
 * it treats the first incomplete record as the end of the log, and so loses acknowledged work silently.
 */
async function checkLogFiles(folder: string): Promise<void> {
  const wal = join(folder, "pg_wal");
  for (const name of await readdir(wal)) {
    if (!/^[0-9A-F]{24}$/.test(name)) continue;
    const { size } = await stat(join(wal, name));
    if (size !== WAL_SEGMENT_BYTES)
      throw new DataFolderError(
        `the write-ahead log ${join(wal, name)} is cut off (${size} of ${WAL_SEGMENT_BYTES} bytes), and acknowledged work may be missing; restore a backup (npm run restore)`,
      );
  }
}
