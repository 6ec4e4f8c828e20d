import type { Workspace } from "./sandbox-service.ts";
import { isWorkspaceError } from "./workspace-error.ts";

/**
 * Stores downloads in a workspace, in two steps. A browser host repeats a step whose answer was lost; a repeat has no
 * further effect.
 */
export type Downloads = {
  /** Returns an unused path for a download. `name` has no folder: `report.csv`, then `report (2).csv`. */
  choosePath: (name: string) => Promise<string>;
  /**
   * Stores a file at a path, unless it is there already.
   * @returns false if another file has the path now. @throws WorkspaceError if the file exceeds a limit.
   */
  store: (path: string, bytes: Uint8Array) => Promise<boolean>;
};

/** Folder of a workspace in which downloads from pages are stored. */
const DOWNLOADS_FOLDER = "downloads";
const NAMES_MAX = 5_000;
/** How often another file can take the chosen path: sub-agents with browsers of their own share the workspace. */
const ATTEMPTS_MAX = 10;

/** Creates the downloads of a workspace. */
export const downloadsIn = (workspace: Workspace): Downloads => ({
  async choosePath(name) {
    const usedNames = new Set(await listNames(workspace));
    const extension = /\.[^.]+$/.exec(name)?.[0] ?? "";
    const stem = name.slice(0, name.length - extension.length);
    let unused = name;
    for (let number = 2; usedNames.has(unused); number += 1) unused = `${stem} (${number})${extension}`;
    return `${DOWNLOADS_FOLDER}/${unused}`;
  },
  async store(path, bytes) {
    const existing = await readExisting(workspace, path, bytes.byteLength);
    if (!existing) await workspace.writeFile(path, bytes);
    return !existing || existing.equals(bytes);
  },
});

/**
 * Stores a file that was downloaded from a page, under an unused name without a folder.
 * @returns the path in the workspace. @throws WorkspaceError if the file exceeds a limit.
 */
export async function storeDownload(downloads: Downloads, name: string, bytes: Uint8Array): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const path = await downloads.choosePath(name);
    if (await downloads.store(path, bytes)) return path;
  }
  throw new Error(`no unused name was found for the download ${name}`);
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

/** Reads a file, at most one byte more than another file has. @returns undefined if there is no file. */
async function readExisting(
  workspace: Workspace,
  path: string,
  sizeBytes: number,
): Promise<Buffer | undefined> {
  try {
    return Buffer.from((await workspace.readFile(path, sizeBytes + 1)).bytes);
  } catch (error) {
    if (isWorkspaceError(error)) return undefined;
    throw error;
  }
}
