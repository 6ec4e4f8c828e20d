import type { Database } from "#db/client.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { readSessionSkills, type StoredFile } from "../skill-store.ts";

/** What the skill tools work through. */
export type SkillToolServices = { db: Database; sandbox: SandboxService };

/** The version of a skill that the calling session has: of a sub-agent, its root's. Otherwise a sentence. */
export async function findSkillVersion(
  { db }: Pick<SkillToolServices, "db">,
  { rootSessionId }: Pick<ToolCall, "rootSessionId">,
  name: string,
): Promise<{ ok: true; version: string } | { ok: false; problem: string }> {
  const skills = (await readSessionSkills(db, rootSessionId)) ?? [];
  const skill = skills.find((each) => each.name === name);
  if (skill) return { ok: true, version: skill.version };
  const names = skills.map((each) => each.name).join(", ") || "none";
  return {
    ok: false,
    problem: `name: there is no skill ${JSON.stringify(name)}. Skills of this session: ${names}`,
  };
}

/** A path as skills list their files: the same file without a leading `./`. */
export const toSkillPath = (path: string): string => path.replace(/^(\.\/)+/, "");

/** The files of a skill, one a line. */
export const listPaths = (files: readonly StoredFile[]): string =>
  files.map(({ path, sizeBytes }) => `${path}  ${sizeBytes}`).join("\n");
