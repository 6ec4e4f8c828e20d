import { TOOL_CATALOGUE } from "#lib/catalogue/tools.ts";

const SENTENCE_END = /(?<=[.!?])(\s+)(?=[A-Z`])/;
const NAMED_TOOL = new RegExp(`\\b(?:${Object.keys(TOOL_CATALOGUE).join("|")})\\b`, "g");

/**
 * Leaves out the sentences of a tool's description that would send the model to a tool that it does not have, or to a
 * workspace in a session without one.
 */
export function leaveOutMissing(
  description: string,
  has: { tool: (name: string) => boolean; workspace: boolean },
): string {
  const isMisleading = (sentence: string) =>
    (sentence.match(NAMED_TOOL) ?? []).some((name) => !has.tool(name)) ||
    (!has.workspace && /\bworkspace\b/.test(sentence));
  // Odd elements are the white space between two sentences.
  const parts = description.split(SENTENCE_END);
  const kept = parts.flatMap((part, index) =>
    index % 2 === 1 || isMisleading(part) ? [] : [(parts[index - 1] ?? "") + part],
  );
  return kept.join("").trimStart();
}
