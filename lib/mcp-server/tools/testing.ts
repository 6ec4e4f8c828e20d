import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { McpCall } from "../mcp-tool.ts";

/** Creates a call of a tool. `reports` collects the progress that the tool reports. */
export function mcpCall(signal: AbortSignal = new AbortController().signal) {
  const reports: string[] = [];
  const call: McpCall = {
    sessionId: "session_test",
    browserSessionId: "session_test",
    rootSessionId: "session_test",
    callId: "call_test",
    client: { opensPages: false, fillsForms: false, hasTasks: false },
    hasTool: () => true,
    signal,
    progress: (done, total, message) => reports.push(`${done}/${total} ${message}`),
  };
  return { call, reports };
}

/** Returns the text of a result. Other content appears as its type in brackets. */
export const mcpTextOf = (result: CallToolResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
