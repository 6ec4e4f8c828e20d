import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { EvidencePointer } from "#lib/events/event.ts";
import {
  type Tool,
  type ToolCall,
  type ToolContent,
  type ToolResult,
  unlessWaiting,
} from "#lib/tools/tool.ts";
import { ROOT_TOOLS } from "#lib/tools/toolset.ts";
import type { McpCall, McpTool } from "./mcp-tool.ts";

/** Where a result names what a tool kept: `GET /api/sessions/:sessionId/artifacts/:id` serves it. */
export const EVIDENCE_META = "agent-session-service/evidence";

/**
 * Whether a tool of the agent makes sense outside of a turn. Planning, delegation and skills tools steer the turn they are
 * called in, a question waits for the person who started one, and only a turn publishes.
 */
export const isCallableFromOutside = ({ profile, name }: Pick<Tool, "profile" | "name">): boolean =>
  profile !== "always" && name !== "elicit_user_input" && !ROOT_TOOLS.includes(name);

/** A tool of the agent as others' agents are offered it: the same implementation, called outside of any turn. */
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
  execute: async (input, call) =>
    describeResult(unlessWaiting(await tool.execute(input, outsideOfTurns(call)))),
});

const acquireOf = ({ acquire }: Tool): Pick<McpTool, "acquire"> =>
  acquire ? { acquire: async (call) => unlessWaiting(await acquire(outsideOfTurns(call))) } : {};

/** A call of somebody else's agent, as a tool is given it. */
export const outsideOfTurns = ({
  sessionId,
  callId,
  hasTool,
  signal,
}: Pick<McpCall, "sessionId" | "callId" | "hasTool" | "signal">): ToolCall => ({
  sessionId,
  browserSessionId: sessionId,
  rootSessionId: sessionId,
  callId,
  hasTool,
  signal,
  requestId: null,
  runId: null,
  origin: "external",
});

function describeResult({ isError, content }: ToolResult): CallToolResult {
  const evidence = content.flatMap((part): EvidencePointer[] =>
    part.type === "text" ? [] : [part.evidence],
  );
  return {
    content: content.flatMap(describeContent),
    ...(isError && { isError }),
    ...(evidence.length > 0 && { _meta: { [EVIDENCE_META]: evidence } }),
  };
}

function describeContent(part: ToolContent): CallToolResult["content"] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "evidence") return [];
  const data = Buffer.from(part.data).toString("base64");
  return [{ type: "image", data, mimeType: part.evidence.mediaType }];
}
