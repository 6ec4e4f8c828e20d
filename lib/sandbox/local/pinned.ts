import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { WorkspaceError } from "../workspace-error.ts";

/** Linux names an open descriptor by path, which gives Node what openat gives C; elsewhere paths must do. */
const isLinux = process.platform === "linux";
/** The same on all Linux machines Node runs on; Node does not export it. Opens no device, waits for no pipe. */
const O_PATH = isLinux ? 0o10000000 : constants.O_RDONLY | constants.O_NONBLOCK;
const noFollow = isLinux ? constants.O_NOFOLLOW : 0;

/** A file or folder held by an open descriptor: what lies behind it cannot be exchanged between check and use. */
export type Pinned = {
  handle: FileHandle;
  /** A path that leads to exactly what is held, whatever became of its name. */
  via: string;
};

/**
 * Holds what a path below `root` leads to, symbolic links followed.
 * The check is on what was opened, not on its name, so a command that exchanges a link meanwhile gains nothing.
 *
 * @param root canonical path of the workspace's folder.
 * @throws WorkspaceError when there is nothing, or when it lies outside `root`.
 */
export async function pinInside(root: string, names: string[]): Promise<Pinned> {
  const path = join(root, ...names);
  const pinned = await pin(path, O_PATH, names);
  try {
    const real = isLinux ? await readlink(pinned.via) : await realpath(path);
    if (real !== root && !real.startsWith(root + sep)) {
      throw new WorkspaceError(`path: ${names.join("/")} leads out of the workspace`);
    }
    return pinned;
  } catch (error) {
    await pinned.handle.close();
    throw error;
  }
}

/** Holds a folder directly inside a held one; a symbolic link is not followed. @throws WorkspaceError as above. */
export function pinChildFolder(parent: Pinned, name: string): Promise<Pinned> {
  return pin(join(parent.via, name), O_PATH | constants.O_DIRECTORY | noFollow, [name]);
}

/** Opens what is held for reading or writing. */
export function openPinned(pinned: Pinned, flags: number): Promise<FileHandle> {
  return open(pinned.via, flags | constants.O_NONBLOCK);
}

async function pin(path: string, flags: number, names: string[]): Promise<Pinned> {
  try {
    const handle = await open(path, flags);
    return { handle, via: isLinux ? `/proc/self/fd/${handle.fd}` : path };
  } catch (error) {
    throw explainPathError(error, names);
  }
}

/** Turns a file system's refusal into a sentence; anything else is handed back as it is. */
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
  return reason === undefined
    ? error
    : new WorkspaceError(`path: ${names.join("/") || "."} ${reason}`, error);
}
