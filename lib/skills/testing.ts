import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The text of a `SKILL.md`. */
export const skillText = (name: string, body = "Do it.", description = `What ${name} does.`): string =>
  `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}\n`;

/** Writes the folder of a skill with a default `SKILL.md`. `files` adds files, and can replace the `SKILL.md`. */
export async function writeSkill(
  folder: string,
  name: string,
  files: Record<string, string | Uint8Array> = {},
): Promise<void> {
  for (const [path, content] of Object.entries({ "SKILL.md": skillText(name), ...files })) {
    await mkdir(dirname(join(folder, name, path)), { recursive: true });
    await writeFile(join(folder, name, path), content);
  }
}
