import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrationsFolder } from "../drivers/migrations.ts";
import { openPostgres } from "../drivers/postgres.ts";
import { type Account, templateAccount } from "./account.ts";
import { serverEnvironment, startPostmaster, withFolderHandle } from "./postmaster.ts";
import type { PostgresPrograms } from "./programs.ts";
import { initdbArguments, serviceSettings } from "./settings.ts";
import { prepareSocket } from "./socket.ts";
import { setOwner } from "./tree.ts";

/** Kept with the packages, so that a clone prepares it once for all its data folders. */
const TEMPLATE_CACHE = fileURLToPath(
  new URL("../../node_modules/.cache/agent-session-service/postgres", import.meta.url),
);

const KEEP_MS = 7 * 24 * 3_600_000;

/**
 * The data folder that new databases are copied from: initialised, with all tables. It is made once for each version of
 * Postgres and of the migrations, which takes a few seconds; set-up does it ahead of the first start.
 *
 * @param programs executable for {@link templateAccount}.
 * @param cache where templates are kept.
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
      // Another process was faster.
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await removeOldTemplates(cache, name);
  return target;
}

/** Removes templates of other versions. A checkout that shares the cache may be copying one that was made lately. */
async function removeOldTemplates(cache: string, current: string): Promise<void> {
  for (const other of await readdir(cache)) {
    if (!other.startsWith("template-") || other === current) continue;
    const folder = join(cache, other);
    const { birthtimeMs } = await stat(folder).catch(() => ({ birthtimeMs: 0 }));
    if (Date.now() - birthtimeMs > KEEP_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Initialises an empty folder and makes all tables in it. */
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
    // A failing server fails the migrations.
    onFailed() {},
  });
  try {
    const database = await openPostgres({ driver: "pg", url: socket.url, onError() {} });
    await database.close();
  } finally {
    await postmaster.stop();
    await socket.close();
  }
  // Every user of this clone may copy it; it holds no data.
  if (account) await setOwner(folder, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
}

/** Runs `initdb`. @throws Error with its words. */
async function initialise({ bin, major }: PostgresPrograms, folder: string, account: Account | undefined) {
  const initdb = withFolderHandle(folder, (handle, path) =>
    spawn(join(bin, "initdb"), ["-D", path, ...initdbArguments(major)], {
      cwd: "/",
      env: serverEnvironment(),
      ...account,
      stdio: ["ignore", "ignore", "pipe", "ignore", handle],
    }),
  );
  let words = "";
  initdb.stderr?.setEncoding("utf8").on("data", (text: string) => {
    words += text;
  });
  const [code] = await once(initdb, "close");
  if (code !== 0) throw new Error(`initdb failed: ${words.trim().slice(0, 600)}`);
}

/** Changes with the version of Postgres, the way it is initialised, and the migrations. */
function describeContent({ version, major, bin }: PostgresPrograms): string {
  const hash = createHash("sha256").update(JSON.stringify([version, bin, initdbArguments(major)]));
  for (const name of readdirSync(migrationsFolder).filter((each) => each.endsWith(".sql")))
    hash.update(name).update(readFileSync(join(migrationsFolder, name)));
  return `${version}-${hash.digest("hex").slice(0, 16)}`;
}
