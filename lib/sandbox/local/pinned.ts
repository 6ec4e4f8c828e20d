import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { sep } from "node:path";
import { fileNameBytes, joinBytes } from "#lib/disk/file-name.ts";
import { WorkspaceError } from "../workspace-error.ts";

/**
 * On Linux, paths below `/proc/self/fd` lead to open descriptors and can be used like `openat`. Other systems use
 * ordinary paths.
 */
const isLinux = process.platform === "linux";
/**
 * Flag that opens a file only as a reference, without opening devices or blocking on pipes. On Linux it is O_PATH,
 * which has the same value on all machines. Node does not export this value.
 */
const O_PATH = isLinux ? 0o10000000 : constants.O_RDONLY | constants.O_NONBLOCK;
const noFollow = isLinux ? constants.O_NOFOLLOW : 0;

/** A file or folder with an open descriptor, so that it cannot be swapped between check and use. */
export type Pinned = {
  handle: FileHandle;
  /** A path to exactly this file or folder; on Linux, even after it was renamed or deleted. */
  via: string | Buffer;
};

/**
 * Pins the file or folder at a path below `root`; follows symbolic links. Checks where the opened file is, instead of
 * checking its path before, so that a command cannot swap in a link between check and use.
 *
 * @param root canonical path of the workspace's folder.
 * @param names texts of `readFileName`.
 * @throws WorkspaceError if the path does not exist or leads outside `root`.
 */
export async function pinInside(root: string, names: string[]): Promise<Pinned> {
  const path = joinBytes(root, ...names.map(fileNameBytes));
  const pinned = await pin(path, O_PATH, names);
  try {
    const asBytes = { encoding: "buffer" } as const;
    const real = isLinux ? await readlink(pinned.via, asBytes) : await realpath(path, asBytes);
    if (!isInside(real, root)) {
      throw new WorkspaceError(`path: ${names.join("/")} leads out of the workspace`);
    }
    return pinned;
  } catch (error) {
    await pinned.handle.close();
    throw error;
  }
}

/** Compares bytes, because the decoded path of a file whose name is not UTF-8 is not its path. */
function isInside(path: Buffer, root: string): boolean {
  const below = Buffer.from(root + sep);
  return path.equals(Buffer.from(root)) || path.subarray(0, below.length).equals(below);
}

/**
 * Pins a folder directly inside a pinned folder; on Linux, does not follow a symbolic link. @throws if the folder
 * cannot be opened; usually a WorkspaceError.
 */
export function pinChildFolder(parent: Pinned, name: string): Promise<Pinned> {
  return pin(joinBytes(parent.via, fileNameBytes(name)), O_PATH | constants.O_DIRECTORY | noFollow, [name]);
}

/** Pins the folder at `names` below `root`, each level through its parent folder. @throws as {@link pinChildFolder}. */
export async function pinFolder(root: string, names: string[]): Promise<Pinned> {
  let folder = await pinInside(root, []);
  for (const [index, name] of names.entries()) {
    const parent = folder;
    try {
      folder = await pinChildFolder(parent, name);
    } catch (error) {
      throw explainPathError(error, names.slice(0, index + 1));
    } finally {
      await parent.handle.close();
    }
  }
  return folder;
}

/** Opens a pinned file for reading or writing. */
export function openPinned(pinned: Pinned, flags: number): Promise<FileHandle> {
  return open(pinned.via, flags | constants.O_NONBLOCK);
}

async function pin(path: Buffer, flags: number, names: string[]): Promise<Pinned> {
  try {
    const handle = await open(path, flags);
    return { handle, via: isLinux ? `/proc/self/fd/${handle.fd}` : path };
  } catch (error) {
    throw explainPathError(error, names);
  }
}

/** Converts a file system error with one of the codes below to a WorkspaceError; returns any other error unchanged. */
export function explainPathError(error: unknown, names: string[]): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const reasons: Record<string, string> = {
    ENOENT: "does not exist",
    ENOTDIR: "is not a folder",
    EISDIR: "is a folder",
    ENOTEMPTY: "is a folder",
    EEXIST: "exists",
    ELOOP: "is a symbolic link in a circle",
    EACCES: "may not be opened",
    EPERM: "may not be changed",
    ENAMETOOLONG: "is too long",
    EDQUOT: "cannot be written: the disk is full",
    ENOSPC: "cannot be written: the disk is full",
  };
  const reason = typeof code === "string" ? reasons[code] : undefined;
  if (reason === undefined) return error;
  const kind = code === "ENOENT" ? "missing" : code === "EDQUOT" || code === "ENOSPC" ? "full" : undefined;
  return new WorkspaceError(`path: ${names.join("/") || "."} ${reason}`, error, kind);
}
