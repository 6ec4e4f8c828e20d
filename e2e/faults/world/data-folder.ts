import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Execution } from "./evidence.ts";

/** Reads the lines that the agent's commands have written to `ran.txt` in the workspaces. */
export async function readExecutions(folder: string): Promise<Execution[]> {
  const root = join(folder, "workspaces");
  const names = await readdir(root).catch(() => []);
  const texts = await Promise.all(
    names.map((name) => readFile(join(root, name, "ran.txt"), "utf8").catch(() => "")),
  );
  return texts.flatMap((text) =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => ({ nonce: line.split(" ")[0] ?? "", atMs: Number(line.split(" ")[1]) })),
  );
}

/**
 * Finds the files below a folder that contain one of the words.
 *
 * @returns the path of each file as `name`, and the word that it contains as `text`.
 */
export async function findInFiles(
  folder: string,
  words: string[],
): Promise<{ name: string; text: string }[]> {
  const found: { name: string; text: string }[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    for (const word of words)
      if (bytes.includes(word)) found.push({ name: path.slice(folder.length), text: word });
  }
  return found;
}
