import type { Workspace } from "./sandbox-service.ts";
import { isWorkspaceError } from "./workspace-error.ts";

/** Where the files that pages offer are stored in a workspace. */
const DOWNLOADS_FOLDER = "downloads";
const NAMES_MAX = 5_000;

/**
 * Stores a file that a page offered, under a name that is free: `report.csv`, then `report (2).csv`.
 * @param name has no folder in it. @returns the path in the workspace. @throws WorkspaceError when it does not fit.
 */
export async function storeDownload(workspace: Workspace, name: string, bytes: Uint8Array): Promise<string> {
  const taken = new Set(await listNames(workspace));
  const extension = /\.[^.]+$/.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - extension.length);
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${stem} (${number})${extension}`;
  const path = `${DOWNLOADS_FOLDER}/${free}`;
  await workspace.writeFile(path, bytes);
  return path;
}

async function listNames(workspace: Workspace): Promise<string[]> {
  try {
    const entries = await workspace.list(DOWNLOADS_FOLDER, { recursive: false, limit: NAMES_MAX });
    return entries.map(({ path }) => path.split("/").at(-1) ?? path);
  } catch (error) {
    // There is no such folder before the first download.
    if (isWorkspaceError(error)) return [];
    throw error;
  }
}
