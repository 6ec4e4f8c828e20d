import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

const TEXT_MAX = 200_000;
const PICTURE_BASE64_MAX = 12 * 1_048_576;

/**
 * A result within its caps: text up to 200,000 characters, a picture up to 9 MiB. What is left out is said; a value with a
 * shape is too long as a whole or not at all.
 */
export function cutMcpResult(result: CallToolResult): CallToolResult {
  let left = TEXT_MAX;
  const content = result.content.map((part): CallToolResult["content"][number] => {
    if (part.type === "image" && part.data.length > PICTURE_BASE64_MAX)
      return { type: "text", text: "[A picture that is too large to be sent.]" };
    if (part.type !== "text") return part;
    const { text } = part;
    const kept = text.slice(0, left).toWellFormed();
    left -= kept.length;
    return text.length === kept.length
      ? part
      : {
          ...part,
          text: `${kept}\n[… ${text.length - kept.length} of ${text.length} characters left out …]`,
        };
  });
  return { ...result, content };
}
