import { createHash } from "node:crypto";
import { parseDocument } from "yaml";
import { z } from "zod";
import { oneLine } from "#lib/text/one-line.ts";
import { SKILL_FILE, type SkillFile, skillLimits } from "../skill.ts";

/** The two parts of a `SKILL.md`: front matter (YAML) and body (Markdown). */
type SkillText = { frontMatter: string; body: string };

/** The front matter of the Agent Skills format. Keys that other products add are allowed and ignored. */
const frontMatterSchema = z.object({
  name: z
    .string()
    .max(64, "must be at most 64 characters")
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lower-case letters, digits and single hyphens between them"),
  description: z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(1_024, "must be at most 1024 characters")
    .refine((text) => !text.includes("\0"), "must not contain NUL"),
  license: z.string().nullish(),
  compatibility: z.string().max(500, "must be at most 500 characters").nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  "allowed-tools": z.union([z.string(), z.array(z.string())]).nullish(),
});

type ParsedSkill = { ok: true; name: string; description: string } | { ok: false; flaw: string };

/**
 * Reads the front matter of a skill's `SKILL.md`.
 *
 * @param folderName the name of the skill's folder; the format requires the skill to have the same name.
 */
export function parseSkill(bytes: Uint8Array, folderName: string): ParsedSkill {
  const text = decodeText(bytes);
  if (text === undefined) return { ok: false, flaw: `${SKILL_FILE} is not UTF-8 text` };
  const parts = splitFrontMatter(text);
  if (!parts)
    return { ok: false, flaw: `${SKILL_FILE} does not begin with front matter between lines of ---` };
  if (Buffer.byteLength(parts.frontMatter) > skillLimits.frontMatterBytesMax)
    return { ok: false, flaw: `front matter: must be at most ${skillLimits.frontMatterBytesMax} bytes` };
  const values = readYaml(parts.frontMatter);
  if (!values.ok) return values;
  const parsed = frontMatterSchema.safeParse(values.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, flaw: `${issue?.path.join(".") || "front matter"}: ${issue?.message}` };
  }
  const { name, description } = parsed.data;
  if (name !== folderName)
    return { ok: false, flaw: `name: is "${name}", but must be the name of the folder, "${folderName}"` };
  return { ok: true, name, description: oneLine(description) };
}

/** Splits a `SKILL.md` into its parts. Returns undefined if it has no front matter. */
export function splitFrontMatter(text: string): SkillText | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) return undefined;
  return {
    frontMatter: lines.slice(1, end).join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

/** Decodes UTF-8 text; undefined if the bytes are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads YAML that contains only plain values. Refuses unknown tags. Also refuses aliases, because a few lines of
 * aliases can expand to gigabytes. Does not apply merge keys.
 */
function readYaml(text: string): { ok: true; value: unknown } | { ok: false; flaw: string } {
  try {
    const document = parseDocument(text, {
      schema: "core",
      merge: false,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [error] = [...document.errors, ...document.warnings];
    if (error) return { ok: false, flaw: `front matter: ${error.message.slice(0, 200)}` };
    return { ok: true, value: document.toJS({ maxAliasCount: 0 }) };
  } catch (error) {
    // The parser throws for aliases, and for nesting so deep that the stack overflows.
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, flaw: `front matter: ${message.slice(0, 200)}` };
  }
}

/** The version of a skill: a hash of its files, each prefixed with its path and with the lengths of path and content. */
export function hashSkill(files: readonly SkillFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files) {
    hash.update(`${Buffer.byteLength(path)}:${path}:${bytes.byteLength}:`);
    hash.update(bytes);
  }
  return hash.digest("hex");
}
