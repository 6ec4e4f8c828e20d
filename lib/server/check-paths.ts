import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { type Env, EnvError } from "./env.ts";

type PathSettings = Pick<Env, "SKILLS_DIR" | "BROWSER_EXECUTABLE_PATH">;

/**
 * Checks the settings that name a folder or a file which must exist. `DATA_DIR` is not among them, because the service
 * creates it.
 *
 * @throws EnvError if a folder or file does not exist, is of the wrong kind, or may not be used by this process.
 */
export async function checkPaths({ SKILLS_DIR, BROWSER_EXECUTABLE_PATH }: PathSettings): Promise<void> {
  if (SKILLS_DIR !== undefined)
    await check("SKILLS_DIR", SKILLS_DIR, "folder", constants.R_OK | constants.X_OK);
  // A name without a slash is looked up in `PATH`.
  if (BROWSER_EXECUTABLE_PATH?.includes("/"))
    await check("BROWSER_EXECUTABLE_PATH", BROWSER_EXECUTABLE_PATH, "file", constants.X_OK);
}

const RIGHTS = { folder: "read", file: "run" };

async function check(name: string, path: string, kind: "folder" | "file", rights: number): Promise<void> {
  try {
    const found = await stat(path);
    if (!(kind === "folder" ? found.isDirectory() : found.isFile()))
      throw new EnvError(`${name}: ${path} is not a ${kind}`);
    await access(path, rights);
  } catch (error) {
    if (error instanceof EnvError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "does not exist" : `may not be ${RIGHTS[kind]} (${code})`;
    throw new EnvError(`${name}: ${path} ${problem}`, { cause: error });
  }
}
