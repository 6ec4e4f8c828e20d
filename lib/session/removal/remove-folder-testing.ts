import { execFile } from "node:child_process";
import { chmod, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Makes a folder unremovable. As root, it puts an immutable file into the folder; as another user, it makes the parent
 * folder read-only.
 * @returns a function that makes the folder removable again.
 */
export async function makeUnremovable(folder: string): Promise<() => Promise<void>> {
  if (process.getuid?.() === 0) {
    const file = join(folder, "immutable");
    await writeFile(file, "x");
    await run("chattr", ["+i", file]);
    return async () => void (await run("chattr", ["-i", file]));
  }
  const above = dirname(folder);
  const { mode } = await stat(above);
  await chmod(above, 0o555);
  return () => chmod(above, mode & 0o777);
}
