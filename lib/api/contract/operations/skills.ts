import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { skillSchema } from "../schemas/skills.ts";

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
