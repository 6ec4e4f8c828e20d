import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Execution } from "./evidence.ts";

/** Reads the lines that the agent's commands wrote to the workspaces when they ran. */
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

/** The files below a folder that contain one of the words: the path of each, and as `text` the word. */
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
