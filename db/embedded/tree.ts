import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Account } from "./account.ts";

const run = promisify(execFile);

/** Copies a folder with `cp`, which takes a tenth of the time of Node's `fs.cp` for a thousand small files. */
export async function copyTree(from: string, to: string): Promise<void> {
  await run("cp", ["-R", from, to]);
}

/** Sets the owner of a folder and its content, if an account is given. Denies access to all other users. */
export async function setOwner(folder: string, account: Account | undefined): Promise<void> {
  if (account) await run("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
  await run("chmod", ["-R", "go-rwx", folder]);
}

/** Flushes the file system of a folder to the disk, so that a power failure does not lose copied files. */
export async function syncToDisk(folder: string): Promise<void> {
  // The `sync` of some systems does not accept a folder. Without a folder, it flushes all file systems.
  await run("sync", ["-f", folder]).catch(() => run("sync", []));
}
