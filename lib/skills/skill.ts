import type { SkillSource } from "#db/schema/unions.ts";

/** A file of a skill; the path is relative to the skill's folder and uses "/". */
export type SkillFile = { path: string; bytes: Uint8Array };

/** A skill as read from its folder. */
export type Skill = {
  name: string;
  description: string;
  /** SHA-256 of its files with their paths: the same content is the same version. */
  version: string;
  source: SkillSource;
  /** Ordered by path. */
  files: readonly SkillFile[];
};

/** The file that every skill has. */
export const SKILL_FILE = "SKILL.md";
/** The folder whose files can be run. */
export const SCRIPTS_FOLDER = "scripts/";
/** The tools that sessions with skills have. */
export const SKILL_TOOLS: readonly string[] = ["read_skill", "run_skill_script"];

const MEBIBYTE = 1_048_576;

/** Limits of skills. Source: `wire.md`, Skills. */
export const skillLimits = {
  /** Skills of a deployment, including the project's own. */
  skillsMax: 32,
  /** Folders in `SKILLS_DIR`, whether or not they hold a skill. */
  namesMax: 1_000,
  filesMax: 64,
  /** Files and folders in the folder of one skill, hidden ones included. */
  entriesMax: 200,
  fileBytesMax: MEBIBYTE / 4,
  skillBytesMax: MEBIBYTE,
  pathCharactersMax: 200,
  frontMatterBytesMax: 16_384,
};
