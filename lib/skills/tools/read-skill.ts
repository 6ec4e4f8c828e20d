import { z } from "zod";
import { storableText } from "#db/storable.ts";
import { defineTool, errorResult, type Tool, type ToolResult } from "#lib/tools/tool.ts";
import { decodeText, splitFrontMatter } from "../catalogue/parse-skill.ts";
import { SKILL_FILE } from "../skill.ts";
import { listFiles, readFile } from "../skill-store.ts";
import { findSkillVersion, listPaths, type SkillToolServices, toSkillPath } from "./find-skill.ts";

/** `read_skill`: reads the body of a skill's `SKILL.md`, or one of its other files. */
export const readSkill = (services: Pick<SkillToolServices, "db">): Tool =>
  defineTool({
    name: "read_skill",
    description:
      "Reads a skill: its procedure and the list of its files, or with path one of its text files.",
    input: z.object({
      name: z.string().min(1).max(200),
      path: z.string().min(1).max(1_000).optional().describe("such as references/criteria.md"),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute({ name, path }, call) {
      const found = await findSkillVersion(services, call, name);
      if (!found.ok) return errorResult(found.problem);
      return path === undefined
        ? describeSkill(services, found.version)
        : describeFile(services, found.version, toSkillPath(path));
    },
  });

async function describeSkill({ db }: Pick<SkillToolServices, "db">, version: string): Promise<string> {
  const bytes = await readFile(db, version, SKILL_FILE);
  // The `SKILL.md` was parsed before the version was stored, so it has front matter.
  const body = splitFrontMatter(decodeText(bytes ?? new Uint8Array()) ?? "")?.body ?? "";
  const files = (await listFiles(db, version)).filter((file) => file.path !== SKILL_FILE);
  const list =
    files.length === 0 ? "[the skill has no further files]" : `Files (bytes):\n${listPaths(files)}`;
  return `${storableText(body)}\n\n${list}`;
}

async function describeFile(
  { db }: Pick<SkillToolServices, "db">,
  version: string,
  path: string,
): Promise<ToolResult | string> {
  const bytes = path.includes("\0") ? undefined : await readFile(db, version, path);
  if (!bytes) {
    const files = listPaths(await listFiles(db, version));
    return errorResult(`path: the skill has no file ${JSON.stringify(path)}. Its files (bytes):\n${files}`);
  }
  const text = decodeText(bytes);
  if (text === undefined) return errorResult(`path: ${path} is not text (${bytes.byteLength} bytes)`);
  return text === "" ? "[the file is empty]" : storableText(text);
}
