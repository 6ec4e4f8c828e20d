import type { Workspace } from "./sandbox-service.ts";
import { isWorkspaceError } from "./workspace-error.ts";

/** Folder of a workspace in which downloads from pages are stored. */
const DOWNLOADS_FOLDER = "downloads";
const NAMES_MAX = 5_000;

/**
 * Stores a file that was downloaded from a page, under an unused name: `report.csv`, then `report (2).csv`.
 * @param name without a folder. @returns the path in the workspace. @throws WorkspaceError if the file exceeds a limit.
 */
export async function storeDownload(workspace: Workspace, name: string, bytes: Uint8Array): Promise<string> {
  const usedNames = new Set(await listNames(workspace));
  const extension = /\.[^.]+$/.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - extension.length);
  let unused = name;
  for (let number = 2; usedNames.has(unused); number += 1) unused = `${stem} (${number})${extension}`;
  const path = `${DOWNLOADS_FOLDER}/${unused}`;
  await workspace.writeFile(path, bytes);
  return path;
}

async function listNames(workspace: Workspace): Promise<string[]> {
  try {
    const entries = await workspace.list(DOWNLOADS_FOLDER, { recursive: false, limit: NAMES_MAX });
    return entries.map(({ path }) => path.split("/").at(-1) ?? path);
  } catch (error) {
    // The folder does not exist before the first download.
    if (isWorkspaceError(error)) return [];
    throw error;
  }
}
