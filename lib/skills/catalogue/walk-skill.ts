import { opendir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { skillLimits } from "../skill.ts";

/** A file that was found in a skill's folder and not read yet. `target` is its canonical path. */
export type FoundFile = { path: string; target: string; sizeBytes: number; stamp: string };

/** Why a skill is invalid. The message is for the log, and does not name the skill. */
export class SkillFlaw extends Error {}

/**
 * Lists the files of a skill's folder. Leaves out hidden files and folders. A symbolic link counts as
 * its target, which must be a file in the skill's folder.
 *
 * @param folder canonical path of the skill's folder.
 * @throws SkillFlaw if the folder exceeds a limit, or contains a file name, a link or a special file that is not
 * allowed.
 */
export async function walkSkill(folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  let entries = 0;
  let bytes = 0;

  async function visit(names: string[]): Promise<void> {
    for await (const entry of await opendir(join(folder, ...names))) {
      entries += 1;
      if (entries > skillLimits.entriesMax)
        throw new SkillFlaw(`has more than ${skillLimits.entriesMax} files and folders`);
      if (entry.name.startsWith(".")) continue;
      const path = [...names, entry.name].join("/");
      refusePath(path);
      if (entry.isDirectory()) await visit([...names, entry.name]);
      else {
        const file = await readFound(folder, path);
        bytes += file.sizeBytes;
        found.push(file);
      }
      if (found.length > skillLimits.filesMax)
        throw new SkillFlaw(`has more than ${skillLimits.filesMax} files`);
      if (bytes > skillLimits.skillBytesMax)
        throw new SkillFlaw(`has more than ${skillLimits.skillBytesMax} bytes`);
    }
  }

  await visit([]);
  return found;
}

function refusePath(path: string): void {
  if (path.length > skillLimits.pathCharactersMax)
    throw new SkillFlaw(`has a path of more than ${skillLimits.pathCharactersMax} characters`);
  // Control characters would break lists of files. U+FFFD means that the name is not valid UTF-8.
  if (/[\p{Cc}\\\uFFFD]/u.test(path))
    throw new SkillFlaw(`has a file name with a character that is not allowed: ${JSON.stringify(path)}`);
}

async function readFound(folder: string, path: string): Promise<FoundFile> {
  const target = await realpath(join(folder, path)).catch(() => undefined);
  if (target === undefined) throw new SkillFlaw(`${path} is a link that leads nowhere`);
  if (!target.startsWith(folder + sep)) throw new SkillFlaw(`${path} leads out of the skill's folder`);
  const { size, mtimeMs, ctimeMs, ino, isFile } = await readStat(target);
  if (!isFile) throw new SkillFlaw(`${path} is neither a file nor a folder`);
  if (size > skillLimits.fileBytesMax)
    throw new SkillFlaw(`${path} has more than ${skillLimits.fileBytesMax} bytes`);
  return { path, target, sizeBytes: size, stamp: [path, target, size, mtimeMs, ctimeMs, ino].join("\0") };
}

async function readStat(target: string) {
  const { size, mtimeMs, ctimeMs, ino, ...rest } = await stat(target);
  return { size, mtimeMs, ctimeMs, ino, isFile: (rest.mode & 0o170000) === 0o100000 };
}
