import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { promisify } from "node:util";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";

const run = promisify(execFile);

/**
 * Changes the owner of a workspace's folder and of everything in it, if the folder belongs to another user: it may be
 * new, from an earlier version, or from a backup. No command may be running in the workspace. Links are not followed.
 */
export async function changeOwner(folder: string, { uid, gid }: SandboxUser): Promise<void> {
  if ((await lstat(folder)).uid === uid) return;
  // The program `chown` handles paths that are longer than a system call accepts. It changes the folder after the
  // folder's contents, so after an interruption the folder has its old owner, and the next call repeats the change.
  await run("chown", ["-hR", `${uid}:${gid}`, "--", folder]);
}
