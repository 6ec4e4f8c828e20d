import type { CallToolResult, Tool as ListedTool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { failureOf } from "#lib/api/http/failure-of.ts";
import type { Logger } from "#lib/log/logger.ts";
import { newId } from "#lib/session/new-id.ts";
import type { McpRequest, McpTool } from "./mcp-tool.ts";

/** What the servers of all revisions of the protocol need. */
export type McpServerDeps = {
  sessionId: string;
  tools: readonly McpTool[];
  /** The instructions that the server sends to the client. */
  instructions: string;
  /** Runs a call. @throws for a bug or a failure of infrastructure. The client then gets an error without details. */
  call: (tool: McpTool, input: unknown, call: McpRequest) => Promise<CallToolResult>;
  logger: Pick<Logger, "error">;
};

/** How the server introduces itself. */
export const SERVER_INFO = {
  name: "agent-session-service",
  title: "Agent Session Service",
  version: "1.0.0",
};

type ProgressParams = { progressToken: string | number; progress: number; total: number; message: string };

/** A call as a server of any revision receives it. */
type ReceivedCall = {
  name: string;
  input: unknown;
  signal: AbortSignal;
  progressToken: string | number | undefined;
  sendProgress: (params: ProgressParams) => Promise<void>;
};

/** A request that has no result. `invalid` if the client is to blame, `internal` otherwise. */
type McpProblem = { kind: "invalid" | "internal"; message: string };

/** Answers the requests of clients, for servers of all revisions of the protocol. */
export function createMcpAnswers({ sessionId, tools, call, logger }: McpServerDeps) {
  return {
    listTools: (): ListedTool[] => tools.map(describeTool),
    async callTool(received: ReceivedCall): Promise<{ result: CallToolResult } | { problem: McpProblem }> {
      const tool = tools.find(({ name }) => name === received.name);
      if (!tool) return { problem: { kind: "invalid", message: `there is no tool named ${received.name}` } };
      try {
        const result = await call(tool, received.input, {
          sessionId,
          callId: newId("call"),
          hasTool: (wanted) => tools.some(({ name }) => name === wanted),
          signal: received.signal,
          progress: createProgress(received),
        });
        return { result };
      } catch (error) {
        logger.error({ err: error, sessionId, tool: tool.name }, "a call over MCP failed");
        return { problem: { kind: "internal", message: failureOf(error).error } };
      }
    },
  };
}

/**
 * Creates the progress callback of a call. The callback sends nothing if the client gave no progress token. It drops
 * reports whose progress has not increased, because the protocol forbids them.
 */
function createProgress({ progressToken, sendProgress }: ReceivedCall): McpRequest["progress"] {
  let last = -1;
  return (progress, total, message) => {
    if (progressToken === undefined || progress <= last) return;
    last = progress;
    // Failures are ignored, because the client may have disconnected.
    sendProgress({ progressToken, progress, total, message }).catch(() => {});
  };
}

const listedTools = new WeakMap<McpTool, ListedTool>();

/** Describes a tool for the tool list. The description is cached for each tool. */
function describeTool(tool: McpTool): ListedTool {
  const cached = listedTools.get(tool);
  if (cached) return cached;
  const { name, title, description, annotations, input, output } = tool;
  const listedTool = {
    name,
    title,
    description,
    annotations,
    inputSchema: toObjectSchema(input, "input"),
    ...(output && { outputSchema: toObjectSchema(output, "output") }),
  };
  listedTools.set(tool, listedTool);
  return listedTool;
}

function toObjectSchema(schema: z.ZodType, io: "input" | "output"): ListedTool["inputSchema"] {
  // The SDK's type requires an object schema. The cast is safe, because the input and output of every tool are objects.
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as ListedTool["inputSchema"];
}
