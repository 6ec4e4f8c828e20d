import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type Tool as ListedTool,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { failureOf } from "#lib/api/http/failure-of.ts";
import type { Logger } from "#lib/log/logger.ts";
import { newId } from "#lib/session/new-id.ts";
import type { McpRequest, McpTool } from "./mcp-tool.ts";

type McpServerDeps = {
  sessionId: string;
  tools: readonly McpTool[];
  /** The instructions that the server sends to the client at initialization. */
  instructions: string;
  /** Runs a call. @throws for a bug or a failure of infrastructure. The client then gets an error without details. */
  call: (tool: McpTool, input: unknown, call: McpRequest) => Promise<CallToolResult>;
  logger: Pick<Logger, "error">;
};

/** Creates a server of the official SDK that lists and calls these tools. */
export function createMcpServer({ sessionId, tools, instructions, call, logger }: McpServerDeps): Server {
  const server = new Server(
    { name: "agent-session-service", title: "Agent Session Service", version: "1.0.0" },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describeTool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta, sendNotification }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `there is no tool named ${params.name}`);
    const progress = createProgress(_meta?.progressToken, sendNotification);
    try {
      const hasTool = (wanted: string) => tools.some(({ name }) => name === wanted);
      return await call(tool, params.arguments, {
        sessionId,
        callId: newId("call"),
        hasTool,
        signal,
        progress,
      });
    } catch (error) {
      logger.error({ err: error, sessionId, tool: tool.name }, "a call over MCP failed");
      throw new McpError(ErrorCode.InternalError, failureOf(error).error);
    }
  });
  return server;
}

/**
 * Creates the progress callback of a call. The callback sends nothing if the client gave no progress token. It drops
 * reports whose progress has not increased, because the protocol forbids them.
 */
function createProgress(
  token: string | number | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): McpRequest["progress"] {
  let last = -1;
  return (progress, total, message) => {
    if (token === undefined || progress <= last) return;
    last = progress;
    const params = { progressToken: token, progress, total, message };
    // Failures are ignored, because the client may have disconnected.
    send({ method: "notifications/progress", params }).catch(() => {});
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
