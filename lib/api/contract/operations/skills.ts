import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { skillSchema } from "../schemas/skills.ts";

/** Operations on the skills of a session. Source: `wire.md`, Skills. */
export const skillOperations = {
  listSkills: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/skills",
    summary: "List skills",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(skillSchema) },
  }),
} as const satisfies Record<string, Operation>;
