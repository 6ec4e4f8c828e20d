import type { Tool } from "#lib/tools/tool.ts";
import type { SkillToolServices } from "./find-skill.ts";
import { readSkill } from "./read-skill.ts";
import { runSkillScript } from "./run-skill-script.ts";

/** The tools of sessions that have skills. */
export const skillTools = (services: SkillToolServices): Tool[] => [
  readSkill(services),
  runSkillScript(services),
];
