import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { McpCall } from "../mcp-tool.ts";

/** A call of a tool, and the progress reports that it received. */
export function mcpCall(signal: AbortSignal = new AbortController().signal) {
  const reports: string[] = [];
  const call: McpCall = {
    sessionId: "session_test",
    callId: "call_test",
    hasTool: () => true,
    signal,
    progress: (done, total, message) => reports.push(`${done}/${total} ${message}`),
  };
  return { call, reports };
}

/** The text of a result. */
export const mcpTextOf = (result: CallToolResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
