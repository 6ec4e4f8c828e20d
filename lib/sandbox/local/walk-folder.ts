import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { joinBytes, listFolder, readFileName } from "#lib/disk/file-name.ts";
import type { WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { pinInside } from "./pinned.ts";

/** Maximum number of names that are read in a folder. */
const NAMES_MAX = 50_000;
const LSTATS_AT_ONCE = 64;

/**
 * An entry with its size on disk. `inode` identifies a file that has several names (hard links). `unreadable` marks a
 * folder that was not read, or not completely.
 */
type WalkedEntry = WorkspaceEntry & {
  modifiedAtMs: number;
  diskBytes: number;
  inode?: string;
  unreadable?: true;
};

/**
 * Visits files and folders below a folder: upper levels first, and in each folder by name. Skips symbolic links and
 * special files unless `all` is set; never follows links. Each folder is pinned (kept open) while it is read, so that
 * replacing the folder with a link has no effect. A folder whose name is in `closed` is visited, but not its entries.
 *
 * @param start the names on the path of the folder; the paths of entries begin with them. Names are texts of `readFileName`.
 * @throws WorkspaceError if the first folder cannot be opened.
 */
export async function* walkFolder(
  root: string,
  start: string[],
  options: { recursive: boolean; all?: boolean; closed?: readonly string[]; namesMax?: number },
): AsyncGenerator<WalkedEntry> {
  const pending = [start];
  for (let names = pending.shift(); names !== undefined; names = pending.shift()) {
    let entries: WalkedEntry[];
    try {
      entries = await readFolder(root, names, options);
    } catch (error) {
      if (names === start) throw error;
      // Ignore a folder that a command removed in the meantime.
      if (!isGone(error)) yield unreadable(names);
      continue;
    }
    for (const entry of entries) {
      yield entry;
      if (!options.recursive || entry.type !== "directory" || entry.unreadable) continue;
      const path = entry.path.split("/");
      if (!options.closed?.includes(path.at(-1) ?? "")) pending.push(path);
    }
  }
}

const unreadable = (names: string[]): WalkedEntry => ({
  path: names.join("/"),
  type: "directory",
  sizeBytes: 0,
  modifiedAtMs: 0,
  diskBytes: 0,
  unreadable: true,
});

const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  error.cause.code === "ENOENT";

async function readFolder(
  root: string,
  parents: string[],
  { all = false, namesMax = NAMES_MAX }: { all?: boolean; namesMax?: number },
): Promise<WalkedEntry[]> {
  const folder = await pinInside(root, parents);
  try {
    const names: Buffer[] = [];
    let seen = 0;
    for await (const entry of listFolder(folder.via)) {
      if (all || entry.isFile() || entry.isDirectory()) names.push(entry.name);
      seen += 1;
      if (seen === namesMax) break;
    }
    names.sort(Buffer.compare);
    const entries: WalkedEntry[] = [];
    for (let at = 0; at < names.length; at += LSTATS_AT_ONCE) {
      const group = names.slice(at, at + LSTATS_AT_ONCE);
      const read = await Promise.all(group.map((name) => readEntry(folder.via, parents, name, all)));
      entries.push(...read.filter((entry) => entry !== undefined));
    }
    if (seen === namesMax) entries.push(unreadable(parents));
    return entries;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR")
      throw new WorkspaceError(`path: ${parents.join("/")} is not a folder`);
    throw error;
  } finally {
    await folder.handle.close();
  }
}

async function readEntry(
  via: string | Buffer,
  parents: string[],
  name: Buffer,
  all: boolean,
): Promise<WalkedEntry | undefined> {
  // Ignore a file that a command removed in the meantime.
  const stat = await lstat(joinBytes(via, name)).catch(() => undefined);
  const type = stat && typeOf(stat);
  if (!stat || !type || (!all && type !== "file" && type !== "directory")) return undefined;
  return {
    path: [...parents, readFileName(name)].join("/"),
    type,
    sizeBytes: type === "file" ? stat.size : 0,
    modifiedAtMs: Math.floor(stat.mtimeMs),
    // A sparse file counts with its size, because a copy or a backup of it takes that much. A file with reserved blocks
    // beyond its end counts with its blocks.
    diskBytes: Math.max((stat.blocks ?? 0) * 512, type === "file" ? stat.size : 0),
    ...(type === "file" && stat.nlink > 1 && { inode: `${stat.dev} ${stat.ino}` }),
  };
}

function typeOf(stat: Stats): WorkspaceEntry["type"] {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  return stat.isSymbolicLink() ? "link" : "other";
}

/** Bytes that an entry takes on disk in addition to its content, for its inode and its name. */
const ENTRY_BYTES = 1_024;
const unreadableBytes = 2 ** 40;

/**
 * The size of a folder: bytes on disk, and the number of files and folders in it. `isHidden`: a folder in it cannot be
 * read, or not completely, and counts as huge.
 */
export type FolderSize = { bytes: number; entries: number; isHidden?: boolean };

/**
 * Measures a folder: all entries, also links and special files. The content of a file with several names counts once.
 * Stops as soon as one of the limits is exceeded, so that measuring stays cheap. A folder that cannot be read counts as
 * huge, so that nothing can be hidden in it.
 */
export async function measureFolder(
  root: string,
  { bytesMax, entriesMax }: { bytesMax: number; entriesMax: number },
): Promise<FolderSize> {
  const size: FolderSize = { bytes: 0, entries: 0 };
  const counted = new Set<string>();
  for await (const entry of walkFolder(root, [], { recursive: true, all: true })) {
    const { inode } = entry;
    const isCounted = inode !== undefined && counted.has(inode);
    if (inode !== undefined) counted.add(inode);
    size.entries += 1;
    if (entry.unreadable) size.isHidden = true;
    size.bytes += ENTRY_BYTES + (isCounted ? 0 : entry.diskBytes) + (entry.unreadable ? unreadableBytes : 0);
    if (size.bytes > bytesMax || size.entries > entriesMax) break;
  }
  return size;
}
