import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { promisify } from "node:util";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";

const run = promisify(execFile);

/**
 * Changes the owner of a workspace's folder and everything in it, if it belongs to another user: the folder may be new,
 * from an earlier version, or from a backup. No command may be running in it. Links are not followed.
 */
export async function changeOwner(folder: string, { uid, gid }: SandboxUser): Promise<void> {
  if ((await lstat(folder)).uid === uid) return;
  // `chown` handles paths that are longer than a system call accepts. It changes a folder after its contents, so the next
  // call repeats an interrupted change.
  await run("chown", ["-hR", `${uid}:${gid}`, "--", folder]);
}
