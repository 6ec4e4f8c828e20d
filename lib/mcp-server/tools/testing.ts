import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { McpCall } from "../mcp-tool.ts";

/** A call of a tool, and what it was told of its progress. */
export function mcpCall(signal: AbortSignal = new AbortController().signal) {
  const told: string[] = [];
  const call: McpCall = {
    sessionId: "session_test",
    callId: "call_test",
    hasTool: () => true,
    signal,
    progress: (done, total, message) => told.push(`${done}/${total} ${message}`),
  };
  return { call, told };
}

/** The text of a result. */
export const mcpTextOf = (result: CallToolResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
