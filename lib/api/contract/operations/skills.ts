import { z } from "zod";
import { SKILL_SOURCES } from "#db/schema/unions.ts";
import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";

/** A skill that a session was created with. Source: `wire.md`, Skills. */
const skillSchema = z
  .object({
    name: z.string().meta({ examples: ["accessibility-audit"] }),
    description: z.string().meta({ examples: ["Finds accessibility barriers of a page."] }),
    version: z.string().meta({
      description:
        "SHA-256 of the skill's files. It stays the same for the session even if the deployment changes the skill.",
      examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    }),
    source: z.enum(SKILL_SOURCES).meta({
      description:
        "`built_in` for a skill of the service, `deployment` for a skill in the operator's `SKILLS_DIR`.",
    }),
    files: z
      .int()
      .min(1)
      .meta({ description: "Number of files, including `SKILL.md`.", examples: [4] }),
  })
  .meta({ id: "Skill" });

/** Operations on the skills of a session. Source: `wire.md`, Skills. */
export const skillOperations = {
  listSkills: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/skills",
    summary: "List skills",
    description:
      "Lists the skills that the session was created with, ordered by name: procedures in the Agent Skills format that its agent reads, and scripts that it runs in the sandbox. Empty for a session without a sandbox, and for a session that was created before the service had skills.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(skillSchema) },
  }),
} as const satisfies Record<string, Operation>;
