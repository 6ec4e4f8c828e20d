import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrationsFolder } from "../drivers/migrations.ts";
import { openPostgres } from "../drivers/postgres.ts";
import { type Account, databaseAccount, templateAccount } from "./account.ts";
import { serverEnvironment, startPostmaster, withFolderHandle } from "./postmaster.ts";
import type { PostgresPrograms } from "./programs.ts";
import { initdbArguments, serviceSettings } from "./settings.ts";
import { prepareSocket } from "./socket.ts";
import { copyTree, setOwner, syncToDisk } from "./tree.ts";

/**
 * The folder that caches the templates. It is in this clone of the repository, so all data folders that the clone
 * creates can be copies of the same template.
 */
const TEMPLATE_CACHE = fileURLToPath(
  new URL("../../node_modules/.cache/agent-session-service/postgres", import.meta.url),
);

const KEEP_MS = 7 * 24 * 3_600_000;

/**
 * Ensures that the template exists: an initialised data folder with all tables. New data folders are copies of it.
 * Creating the template takes a few seconds, once for each version of Postgres and of the migrations. Set-up does this
 * before the first start.
 *
 * @param programs programs that {@link templateAccount} can execute.
 * @param cache the folder that contains the templates.
 * @returns the template's folder.
 */
export async function ensureTemplate(programs: PostgresPrograms, cache = TEMPLATE_CACHE): Promise<string> {
  const name = `template-${describeContent(programs)}`;
  const target = join(cache, name);
  if (existsSync(target)) return target;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "new-"));
  try {
    await makeTemplate(programs, folder);
    await rename(folder, target).catch((error) => {
      // Another process created the template first.
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await removeOldTemplates(cache, name);
  return target;
}

const copyOf = (template: string): string => join(dirname(template), `copy-of-${basename(template)}`);

/**
 * Copies the template, for the next data folder that is created. Set-up does this, because copying and flushing a
 * thousand files takes longer than the rest of a first start. Does nothing if there is a copy.
 */
export async function prepareCopy(template: string): Promise<void> {
  const target = copyOf(template);
  if (existsSync(target)) return;
  const parent = await mkdtemp(join(dirname(template), "new-"));
  try {
    const copy = join(parent, "data");
    await copyTemplate(template, copy);
    await rename(copy, target).catch((error) => {
      // Another process made a copy first.
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/**
 * Moves the prepared copy of the template to `target`.
 *
 * @returns false if there is no copy, if the copy belongs to another account, or if it is on another file system.
 */
export async function movePreparedCopy(template: string, target: string): Promise<boolean> {
  const copy = copyOf(template);
  try {
    const { uid } = await stat(copy);
    if (uid !== (databaseAccount()?.uid ?? process.getuid?.())) return false;
    await rename(copy, target);
    return true;
  } catch (error) {
    if (CANNOT_MOVE.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

const CANNOT_MOVE = new Set(["ENOENT", "EXDEV", "EACCES", "EPERM", "EROFS"]);

/** Copies a template to a data folder on which a server can start, and flushes the copy to the disk. */
export async function copyTemplate(template: string, target: string): Promise<void> {
  await copyTree(template, target);
  await finishDataFolder(target);
}

/** Gives a data folder to the account of the database, denies access to all others, and flushes it to the disk. */
export async function finishDataFolder(folder: string): Promise<void> {
  await setOwner(folder, databaseAccount());
  await chmod(folder, 0o700);
  await syncToDisk(folder);
}

/** Removes templates of other versions that are older than a week. Other checkouts may still use the younger ones. */
async function removeOldTemplates(cache: string, current: string): Promise<void> {
  for (const other of await readdir(cache)) {
    if (!/^(copy-of-)?template-/.test(other) || other.endsWith(current)) continue;
    const folder = join(cache, other);
    const { birthtimeMs } = await stat(folder).catch(() => ({ birthtimeMs: 0 }));
    if (Date.now() - birthtimeMs > KEEP_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Initialises an empty folder and creates all tables in it. */
export async function makeTemplate(programs: PostgresPrograms, folder: string): Promise<void> {
  const account = templateAccount();
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
  await initialise(programs, folder, account);
  const socket = await prepareSocket(folder);
  const postmaster = await startPostmaster({
    programs,
    folder,
    account,
    settings: [
      ...serviceSettings(programs.major),
      `unix_socket_directories=${socket.directory}`,
      "fsync=off",
    ],
    logger: { debug() {}, warn() {}, error() {} },
    // Does nothing, because the migrations below fail if the server fails.
    onFailed() {},
  });
  try {
    const database = await openPostgres({ url: socket.url, onError() {} });
    await database.close();
  } finally {
    await postmaster.stop();
    await socket.close();
  }
  // Gives the folder to this process's user, who copies the template later.
  if (account) await setOwner(folder, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
}

/** Runs `initdb`. @throws Error with its output. */
async function initialise({ bin, major }: PostgresPrograms, folder: string, account: Account | undefined) {
  const initdb = withFolderHandle(folder, (handle, path) =>
    spawn(join(bin, "initdb"), ["-D", path, ...initdbArguments(major)], {
      cwd: "/",
      env: serverEnvironment(),
      ...account,
      stdio: ["ignore", "ignore", "pipe", "ignore", handle],
    }),
  );
  let output = "";
  initdb.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(initdb, "close");
  if (code !== 0) throw new Error(`initdb failed: ${output.trim().slice(0, 600)}`);
}

/** Returns the Postgres version and a hash of everything that determines the content of a template. */
function describeContent({ version, major, bin }: PostgresPrograms): string {
  const hash = createHash("sha256").update(JSON.stringify([version, bin, initdbArguments(major)]));
  for (const name of readdirSync(migrationsFolder).filter((each) => each.endsWith(".sql")))
    hash.update(name).update(readFileSync(join(migrationsFolder, name)));
  return `${version}-${hash.digest("hex").slice(0, 16)}`;
}
