import type { Database } from "#db/client.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { readSessionSkills, type StoredFile } from "../skill-store.ts";

/** The dependencies of the skill tools. */
export type SkillToolServices = { db: Database; sandbox: SandboxService };

/** Finds the version of a skill that the calling session has. A sub-agent has the versions of its root session. */
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

/** Removes a leading `./`, because the stored paths of skill files do not begin with it. */
export const toSkillPath = (path: string): string => path.replace(/^(\.\/)+/, "");

/** Formats the files of a skill, one per line. */
export const listPaths = (files: readonly StoredFile[]): string =>
  files.map(({ path, sizeBytes }) => `${path}  ${sizeBytes}`).join("\n");
