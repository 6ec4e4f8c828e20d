import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chown, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { syncFolder } from "#lib/disk/durable.ts";
import { fileNameBytes, joinBytes } from "#lib/disk/file-name.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { explainPathError, type Pinned, pinChildFolder, pinInside } from "./pinned.ts";

/**
 * Writes a file below `root`. When the call returns, the file and the folders that lead to it are on disk, so that they
 * survive a power failure.
 *
 * @param names the path; its last name is that of the file. Missing folders are created.
 * @param owner the owner of what is created, if it is not the service's own user.
 * @throws WorkspaceError if the path does not allow it, or if the disk is full.
 */
export async function writeInside(
  root: string,
  names: string[],
  bytes: Uint8Array,
  owner: SandboxUser | undefined,
): Promise<void> {
  const folder = await createFolders(root, names.slice(0, -1), owner);
  try {
    await replaceFile(folder, names.at(-1) ?? "", bytes, owner);
    await syncFolder(folder.via);
  } catch (error) {
    throw explainPathError(error, names);
  } finally {
    await folder.handle.close();
  }
}

/**
 * Opens the folder at `names` as {@link Pinned}, and creates missing folders. Opens each level through its parent
 * folder, so that on Linux no link is followed. Syncs each parent, whether its folder is new or not: a concurrent write
 * may have created the folder without having synced the parent yet.
 */
async function createFolders(root: string, names: string[], owner: SandboxUser | undefined): Promise<Pinned> {
  let folder = await pinInside(root, []);
  for (const [index, name] of names.entries()) {
    const parent = folder;
    try {
      const isNew = await mkdir(joinBytes(parent.via, fileNameBytes(name)), { mode: 0o755 }).then(
        () => true,
        () => false,
      );
      folder = await pinChildFolder(parent, name);
      if (isNew && owner) await chown(folder.via, owner.uid, owner.gid);
      await syncFolder(parent.via);
    } catch (error) {
      if (folder !== parent) await folder.handle.close();
      throw explainPathError(error, names.slice(0, index + 1));
    } finally {
      await parent.handle.close();
    }
  }
  return folder;
}

/**
 * Writes a temporary file and renames it to the target. Readers never see a partial file. If the target is a link, the
 * link itself is replaced.
 */
async function replaceFile(folder: Pinned, name: string, bytes: Uint8Array, owner: SandboxUser | undefined) {
  const target = joinBytes(folder.via, fileNameBytes(name));
  const temporary = joinBytes(folder.via, Buffer.from(`.${randomUUID()}.tmp`));
  const before = await lstat(target).catch(() => undefined);
  const file = await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    try {
      await file.writeFile(bytes);
      if (owner) await file.chown(owner.uid, owner.gid);
      await file.chmod(before?.isFile() ? before.mode & 0o777 : 0o644);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
