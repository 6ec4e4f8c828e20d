import { readSessionSkills } from "#lib/skills/skill-store.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/skills`: lists skills, sorted by name. A sub-agent has the skills of its root session. */
async function listSkills(
  { db, skills }: Pick<ApiServices, "db" | "skills">,
  { params }: Pick<CallOf<"listSkills">, "params">,
): Promise<Answer> {
  const summaries = await skills.describe((await readSessionSkills(db, params.sessionId)) ?? []);
  const data = summaries.map(({ name, description, version, source, fileCount }) => ({
    name,
    description,
    version,
    source,
    files: fileCount,
  }));
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

export const skillHandlers = {
  listSkills,
} satisfies Partial<Handlers>;
