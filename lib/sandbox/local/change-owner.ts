import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { promisify } from "node:util";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";

const run = promisify(execFile);

/**
 * Gives a workspace's folder with all that is in it to a user, if it belongs to another one: a new folder, one of an
 * earlier version, or one from a backup. Nothing runs in it yet. Links are not followed.
 */
export async function changeOwner(folder: string, { uid, gid }: SandboxUser): Promise<void> {
  if ((await lstat(folder)).uid === uid) return;
  // A path in it may be longer than the system takes, which `chown` can handle. It changes a folder after what is in it,
  // so that an interrupted change is made again.
  await run("chown", ["-hR", `${uid}:${gid}`, "--", folder]);
}
