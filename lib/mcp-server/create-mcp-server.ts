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
import type { McpCall, McpTool } from "./mcp-tool.ts";

type McpServerDeps = {
  sessionId: string;
  tools: readonly McpTool[];
  /** What the caller is told of the server before it begins. */
  instructions: string;
  /** @throws where the fault is ours, which the caller is told without a detail. */
  call: (tool: McpTool, input: unknown, call: McpCall) => Promise<CallToolResult>;
  logger: Pick<Logger, "error">;
};

/** A server of the official SDK that lists these tools and calls them. */
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

/** Reports of a call, of which each is further than the last, as the protocol demands. */
function createProgress(
  token: string | number | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): McpCall["progress"] {
  let last = -1;
  return (progress, total, message) => {
    if (token === undefined || progress <= last) return;
    last = progress;
    const params = { progressToken: token, progress, total, message };
    // Who has gone is not told.
    send({ method: "notifications/progress", params }).catch(() => {});
  };
}

const listed = new WeakMap<McpTool, ListedTool>();

/** A tool as it is listed; made once for each. */
function describeTool(tool: McpTool): ListedTool {
  const known = listed.get(tool);
  if (known) return known;
  const { name, title, description, annotations, input, output } = tool;
  const made = {
    name,
    title,
    description,
    annotations,
    inputSchema: toObjectSchema(input, "input"),
    ...(output && { outputSchema: toObjectSchema(output, "output") }),
  };
  listed.set(tool, made);
  return made;
}

function toObjectSchema(schema: z.ZodType, io: "input" | "output"): ListedTool["inputSchema"] {
  // Every tool takes and answers an object, which is all that the SDK's type asks for.
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as ListedTool["inputSchema"];
}
