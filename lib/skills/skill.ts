import type { SkillSource } from "#db/schema/unions.ts";

/** A file of a skill; the path is relative to the skill's folder and uses "/". */
export type SkillFile = { path: string; bytes: Uint8Array };

/** A skill as read from its folder. */
export type Skill = {
  name: string;
  description: string;
  /** SHA-256 hash of the files and their paths. Skills with the same files have the same version. */
  version: string;
  source: SkillSource;
  /** Ordered by path. */
  files: readonly SkillFile[];
};

/** The file that every skill has. */
export const SKILL_FILE = "SKILL.md";
/** The subfolder of a skill's folder that contains the skill's scripts. */
export const SCRIPTS_FOLDER = "scripts/";
/** The tools that a session has only if it has skills. */
export const SKILL_TOOLS: readonly string[] = ["read_skill", "run_skill_script"];

const MEBIBYTE = 1_048_576;

/** Limits of skills. Source: `wire.md`, Skills. */
export const skillLimits = {
  /** Maximum number of skills of a deployment, including the built-in skills. */
  skillsMax: 32,
  /** Maximum number of folders in `SKILLS_DIR`, whether or not they contain a skill. */
  namesMax: 1_000,
  filesMax: 64,
  /** Maximum number of files and folders in the folder of one skill, including hidden ones. */
  entriesMax: 200,
  fileBytesMax: MEBIBYTE / 4,
  skillBytesMax: MEBIBYTE,
  pathCharactersMax: 200,
  frontMatterBytesMax: 16_384,
};
