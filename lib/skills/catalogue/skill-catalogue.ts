import { join } from "node:path";
import type { SkillSource } from "#db/schema/unions.ts";
import type { Logger } from "#lib/log/logger.ts";
import { type Skill, skillLimits } from "../skill.ts";
import { inspectSkill, listSkillFolders, type SkillResult } from "./read-skill-folder.ts";
import { SkillFlaw } from "./walk-skill.ts";

/** The current skills of this deployment. */
export type SkillCatalogue = {
  /** Returns the valid skills, ordered by name. Checks for changed files, but at most once every few seconds. */
  current: () => Promise<readonly Skill[]>;
};

/** The folder of the skills that belong to this project. */
const LIBRARY = join(import.meta.dirname, "../library");
/** The files that each of these skills has in addition to those of its own folder. */
const SHARED = join(import.meta.dirname, "../shared");
const CHECK_EVERY_MS = 3_000;

type CatalogueOptions = {
  logger: Pick<Logger, "warn">;
  /** The value of `SKILLS_DIR`: a folder that contains skill folders. */
  skillsDir?: string | undefined;
  libraryDir?: string;
  checkEveryMs?: number;
};

/**
 * Creates the catalogue of the skills in the library and in `SKILLS_DIR`. If both contain a valid skill with the same
 * name, the one in `SKILLS_DIR` is used. An invalid skill is skipped, and so is each further skill after
 * `skillLimits.skillsMax` skills. The log reports the flaw of a skipped skill once, and again only if the flaw was
 * absent in between.
 */
export async function createSkillCatalogue(options: CatalogueOptions): Promise<SkillCatalogue> {
  const { logger, skillsDir, libraryDir = LIBRARY, checkEveryMs = CHECK_EVERY_MS } = options;
  const folders: [string, SkillSource][] = [[libraryDir, "built_in"]];
  if (skillsDir !== undefined) folders.push([skillsDir, "deployment"]);
  const cache = new Map<string, { stamp: string; result: SkillResult }>();
  let skills: readonly Skill[] = [];
  let flaws = new Set<string>();
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  async function readFolder(
    folder: string,
    source: SkillSource,
    found: Map<string, Skill>,
    newFlaws: Set<string>,
  ) {
    const report = (place: string, flaw: string) => {
      const line = `${place}: ${flaw}`;
      newFlaws.add(line);
      if (!flaws.has(line)) logger.warn({ folder: place, flaw }, "skill was skipped");
    };
    const paths = await listSkillFolders(folder).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      report(folder, error instanceof SkillFlaw ? reason : `cannot be read: ${reason}`);
      return [] as string[];
    });
    for (const path of paths) {
      const { name, stamp, read } = await inspectSkill(path, source, folder === LIBRARY ? SHARED : undefined);
      const cached = cache.get(path);
      const latest = cached?.stamp === stamp ? cached.result : await read();
      const isChanging = !latest.ok && latest.isChanging === true;
      // While the files of a skill are being replaced, its cached version is used. Because of the empty stamp, the next
      // check reads the skill again.
      const result = isChanging && cached ? cached.result : latest;
      cache.set(path, { stamp: isChanging ? "" : stamp, result });
      if (!result.ok) report(path, result.flaw);
      else if (found.size >= skillLimits.skillsMax && !found.has(name))
        report(path, `there are more than ${skillLimits.skillsMax} skills`);
      else found.set(name, result.skill);
    }
    for (const path of cache.keys())
      if (path.startsWith(join(folder, "/")) && !paths.includes(path)) cache.delete(path);
  }

  async function check(): Promise<void> {
    const found = new Map<string, Skill>();
    const newFlaws = new Set<string>();
    for (const [folder, source] of folders) await readFolder(folder, source, found, newFlaws);
    skills = [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    flaws = newFlaws;
    checkedAt = performance.now();
  }

  const current = async () => {
    if (performance.now() - checkedAt >= checkEveryMs) {
      checking ??= check().finally(() => {
        checking = undefined;
      });
      await checking;
    }
    return skills;
  };
  await current();
  return { current };
}
