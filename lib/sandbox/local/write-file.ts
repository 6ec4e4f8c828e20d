import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chown, link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { syncFolder } from "#lib/disk/durable.ts";
import { fileNameBytes, joinBytes } from "#lib/disk/file-name.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import type { ExpectedVersion, StoredFile } from "../sandbox-service.ts";
import { explainPathError, type Pinned, pinChildFolder, pinFolder, pinInside } from "./pinned.ts";
import { changed, checkExpected, toStoredFile } from "./stored-file.ts";

/**
 * Writes a file below `root`. When the call returns, the file and the folders that lead to it are on disk, so that they
 * survive a power failure.
 *
 * @param names the path; its last name is that of the file. Missing folders are created.
 * @param owner the owner of what is created, if it is not the service's own user.
 * @param expected what must be there before. The caller must lock the path if it is a version.
 * @throws WorkspaceError if the path does not allow it, if the disk is full, or if the file is not the expected one.
 */
export async function writeInside(
  root: string,
  names: string[],
  bytes: Uint8Array,
  owner: SandboxUser | undefined,
  expected?: ExpectedVersion,
): Promise<StoredFile> {
  const parents = names.slice(0, -1);
  // A file that has to be there has its folders. Otherwise nothing may be created.
  const mustExist = expected !== undefined && expected !== "absent";
  const folder = await (mustExist ? pinFolder(root, parents) : createFolders(root, parents, owner));
  try {
    const name = names.at(-1) ?? "";
    await checkExpected(joinBytes(folder.via, fileNameBytes(name)), expected, names.join("/"));
    const stored = await replaceFile(folder, name, bytes, { owner, isNew: expected === "absent" });
    if (!stored) throw changed(names.join("/"), "absent");
    await syncFolder(folder.via);
    return stored;
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
 * @returns undefined if the file must be new and the target exists.
 */
async function replaceFile(
  folder: Pinned,
  name: string,
  bytes: Uint8Array,
  { owner, isNew }: { owner: SandboxUser | undefined; isNew: boolean },
): Promise<StoredFile | undefined> {
  const target = joinBytes(folder.via, fileNameBytes(name));
  const temporary = joinBytes(folder.via, Buffer.from(`.${randomUUID()}.tmp`));
  const before = await lstat(target).catch(() => undefined);
  const file = await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    await file.writeFile(bytes);
    if (owner) await file.chown(owner.uid, owner.gid);
    await file.chmod(before?.isFile() ? before.mode & 0o777 : 0o644);
    await file.sync();
    if (isNew) {
      // Unlike a rename, a link does not replace what is there.
      if (!(await linkNew(temporary, target))) return undefined;
      await rm(temporary);
    } else await rename(temporary, target);
    // Read from the open file: another write may have replaced it by now.
    return toStoredFile(await file.stat({ bigint: true }));
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

/** Gives a file a second name. @returns false if the name is taken. */
const linkNew = (from: Buffer, to: Buffer): Promise<boolean> =>
  link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
