import { lstat, rmdir, unlink } from "node:fs/promises";
import { syncFolder } from "#lib/disk/durable.ts";
import { fileNameBytes, joinBytes } from "#lib/disk/file-name.ts";
import type { ExpectedVersion } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { explainPathError, pinFolder } from "./pinned.ts";
import { checkExpected } from "./stored-file.ts";

/**
 * Removes a file, a link (not its target) or an empty folder below `root`, durably. On Linux, no link on the way is
 * followed.
 *
 * @param names the path. The caller must lock the path if a version is expected.
 * @throws WorkspaceError if it does not exist, is not the expected one, or is a folder that is not empty.
 */
export async function removeInside(
  root: string,
  names: string[],
  expected: ExpectedVersion | undefined,
): Promise<void> {
  const path = names.join("/");
  const folder = await pinFolder(root, names.slice(0, -1));
  try {
    const target = joinBytes(folder.via, fileNameBytes(names.at(-1) ?? ""));
    const isFolder = (await lstat(target)).isDirectory();
    await checkExpected(target, expected, path);
    await (isFolder ? rmdir(target) : unlink(target));
    await syncFolder(folder.via);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTEMPTY") throw new WorkspaceError(`path: ${path} is a folder that is not empty`, error);
    throw explainPathError(error, names);
  } finally {
    await folder.handle.close();
  }
}
