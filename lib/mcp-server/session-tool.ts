import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { ROOT_TOOLS } from "#lib/catalogue/tools.ts";
import {
  listEvidence,
  type Tool,
  type ToolCall,
  type ToolContent,
  type ToolResult,
  unlessWaiting,
} from "#lib/tools/tool.ts";
import type { McpCall, McpTool } from "./mcp-tool.ts";

/**
 * The key in `_meta` of a result under which the tool's evidence is listed. The evidence is served by
 * `GET /api/sessions/…/artifacts/…`.
 */
export const EVIDENCE_META = "agent-session-service/evidence";
/** The key in `_meta` of a result for the name of the person who interrupted the call by taking control. */
export const INTERRUPTED_META = "agent-session-service/interrupted-by";

const ASKING = ["elicit_user_input", "request_handover"];

/**
 * Whether another agent may call a tool of the session's agent outside of any turn. It may not call the tools for
 * planning, delegation and skills, because these tools affect the current turn. It may not ask questions, because they
 * go to the person who started the turn. It may not publish, because only a turn may do that.
 */
export const isCallableFromOutside = ({ profile, name }: Pick<Tool, "profile" | "name">): boolean =>
  profile !== "always" && !ASKING.includes(name) && !ROOT_TOOLS.includes(name);

/**
 * Converts a tool of the session's agent to a tool for other agents. Both run the same code, but the new tool runs it
 * outside of any turn.
 */
export const toMcpTool = (tool: Tool): McpTool => ({
  name: tool.name,
  title: tool.name.replaceAll("_", " "),
  description: tool.description,
  input: tool.input,
  annotations: {
    readOnlyHint: tool.readOnly,
    destructiveHint: !tool.readOnly,
    idempotentHint: tool.idempotent,
    openWorldHint: true,
  },
  changes: tool.changes,
  timeoutMs: tool.timeoutMs,
  ...acquireOf(tool),
  execute: async (input, call) => describeResult(unlessWaiting(await tool.execute(input, toToolCall(call)))),
});

const acquireOf = ({ acquire }: Tool): Pick<McpTool, "acquire"> =>
  acquire ? { acquire: async (call) => unlessWaiting(await acquire(toToolCall(call))) } : {};

/** Converts a call over MCP to the form that the tools of the session's agent expect. */
export const toToolCall = ({
  sessionId,
  browserSessionId,
  rootSessionId,
  callId,
  hasTool,
  signal,
}: Omit<McpCall, "progress" | "client">): ToolCall => ({
  sessionId,
  browserSessionId,
  rootSessionId,
  callId,
  hasTool,
  signal,
  requestId: null,
  runId: null,
  mayAskPeople: false,
});

function describeResult({ isError, content, interruptedBy }: ToolResult): CallToolResult {
  const evidence = listEvidence(content);
  const meta = {
    ...(evidence.length > 0 && { [EVIDENCE_META]: evidence }),
    ...(interruptedBy !== undefined && { [INTERRUPTED_META]: interruptedBy }),
  };
  return {
    content: content.flatMap(describeContent),
    ...(isError && { isError }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function describeContent(part: ToolContent): CallToolResult["content"] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "evidence") return [];
  const data = Buffer.from(part.data).toString("base64");
  return [{ type: "image", data, mimeType: part.mediaType }];
}
