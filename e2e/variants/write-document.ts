import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** Writes a Markdown page to lib/docs, in the format of the repository. */
export async function writeDocument(name: string, text: string): Promise<void> {
  const page = join(ROOT, "lib/docs", name);
  await writeFile(page, text);
  const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
  spawnSync(process.execPath, [biome, "format", "--write", page], { cwd: ROOT, stdio: "inherit" });
}
