import { constants } from "node:fs";
import { open, opendir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SkillSource } from "#db/schema/unions.ts";
import { SKILL_FILE, type Skill, type SkillFile, skillLimits } from "../skill.ts";
import { hashSkill, parseSkill } from "./parse-skill.ts";
import { type FoundFile, SkillFlaw, walkSkill } from "./walk-skill.ts";

export type SkillResult = { ok: true; skill: Skill } | { ok: false; flaw: string; isChanging?: boolean };

/**
 * A folder that may contain a skill. `stamp` changes when a file of the folder changes, so that an unchanged folder is
 * not read again.
 */
type SkillFolder = {
  name: string;
  stamp: string;
  read: () => Promise<SkillResult>;
};

/**
 * Inspects the folder of a skill without reading its files. `read` returns a flaw instead of throwing.
 *
 * @param path path of the skill's folder, which is in `SKILLS_DIR` or in the library.
 * @param sharedDir a folder whose files the skill has too, at the same paths.
 */
export async function inspectSkill(
  path: string,
  source: SkillSource,
  sharedDir?: string,
): Promise<SkillFolder> {
  const name = basename(path);
  try {
    const parent = await realpath(dirname(path));
    const folder = await realpath(path);
    if (dirname(folder) !== parent) throw new SkillFlaw("is a link that leads out of the folder of skills");
    const folders = sharedDir === undefined ? [folder] : [folder, await realpath(sharedDir)];
    const found = await walkFolders(folders);
    return {
      name,
      stamp: stampOf(found),
      read: () => readSkill(name, source, folders, found),
    };
  } catch (error) {
    const flaw = describeFlaw(error);
    return { name, stamp: `flaw: ${flaw}`, read: async () => ({ ok: false, flaw }) };
  }
}

/** Lists the files of folders, ordered by path. */
async function walkFolders(folders: readonly string[]): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const folder of folders) found.push(...(await walkSkill(folder)));
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

const stampOf = (found: readonly FoundFile[]): string => found.map(({ stamp }) => stamp).join("\n");

async function readSkill(
  name: string,
  source: SkillSource,
  folders: readonly string[],
  found: FoundFile[],
): Promise<SkillResult> {
  try {
    const files: SkillFile[] = [];
    for (const file of found) files.push({ path: file.path, bytes: await readBytes(file) });
    // If a folder has changed since `found` was listed, `files` may contain a mix of an old and a new version.
    if (stampOf(await walkFolders(folders)) !== stampOf(found))
      return { ok: false, flaw: "changed while it was read", isChanging: true };
    const text = files.find(({ path }) => path === SKILL_FILE);
    if (!text) return { ok: false, flaw: `has no ${SKILL_FILE}` };
    const parsed = parseSkill(text.bytes, name);
    if (!parsed.ok) return parsed;
    const { description } = parsed;
    return { ok: true, skill: { name, description, source, version: hashSkill(files), files } };
  } catch (error) {
    return { ok: false, flaw: describeFlaw(error) };
  }
}

/**
 * Reads a file. Does not follow links, and checks type and size again, because the file may have been replaced since
 * `walkSkill` found it.
 */
async function readBytes({ path, target }: FoundFile): Promise<Uint8Array> {
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new SkillFlaw(`${path} is neither a file nor a folder`);
    const buffer = Buffer.alloc(skillLimits.fileBytesMax + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (length > skillLimits.fileBytesMax)
        throw new SkillFlaw(`${path} has more than ${skillLimits.fileBytesMax} bytes`);
      if (bytesRead === 0) return Uint8Array.from(buffer.subarray(0, length));
    }
  } finally {
    await file.close();
  }
}

const describeFlaw = (error: unknown): string => {
  if (error instanceof SkillFlaw) return error.message;
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
};

/**
 * Lists the paths of the skill folders in `folder`, without hidden ones.
 * @throws SkillFlaw if `folder` contains too many folders.
 */
export async function listSkillFolders(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (entry.name.startsWith(".") || entry.isFile()) continue;
    names.push(entry.name);
    if (names.length > skillLimits.namesMax)
      throw new SkillFlaw(`has more than ${skillLimits.namesMax} folders`);
  }
  return names.sort().map((name) => join(folder, name));
}
