import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "#db/client.ts";
import type { Execution } from "./evidence.ts";

let prepared: Promise<string> | undefined;

/**
 * A fresh data folder. Where it is to hold the database, it is a copy of one in which the tables have just been made, which
 * saves making them each time.
 */
export async function makeDataFolder(holdsDatabase: boolean): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "faults-data-"));
  if (!holdsDatabase) return folder;
  prepared ??= prepareFolder();
  await cp(await prepared, folder, { recursive: true });
  return folder;
}

async function prepareFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "faults-fresh-"));
  const database = await openDatabase({ driver: "embedded", dataDir: folder });
  await database.close();
  return folder;
}

/** Removes the folder that the copies were made of. */
export async function forgetDataFolders(): Promise<void> {
  if (prepared) await rm(await prepared, { recursive: true, force: true });
  prepared = undefined;
}

/** What the agent's commands wrote down in the workspaces: that they ran, and when. */
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

/** Names of the files below a folder that hold one of the words. */
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
