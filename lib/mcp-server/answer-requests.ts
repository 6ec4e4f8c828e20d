import type { CallToolResult, Tool as ListedTool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { failureOf } from "#lib/api/http/failure-of.ts";
import type { Logger } from "#lib/log/logger.ts";
import { newId } from "#lib/session/new-id.ts";
import type { ClientOffer } from "./client-offer.ts";
import type { McpAsk, McpRequest, McpToolInfo } from "./mcp-tool.ts";
import type { SessionTasks } from "./sessions/session-tasks.ts";

/** What the servers of all revisions of the protocol need. */
export type McpServerDeps<Tool extends McpToolInfo = McpToolInfo> = {
  /** Names the caller or its session in the log. */
  logFields: Record<string, string>;
  tools: readonly Tool[];
  /** The instructions that the server sends to the client. */
  instructions: string;
  client: ClientOffer;
  /** The tasks of the caller; undefined if the caller has none. */
  tasks?: (signal: AbortSignal) => Promise<SessionTasks>;
  /** Runs a call, or says which page a person has to open first. @throws for a bug or a failure of infrastructure. The client then gets an error without details. */
  call: (tool: Tool, input: unknown, call: McpRequest) => Promise<CallToolResult | { ask: McpAsk }>;
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
export function createMcpAnswers<Tool extends McpToolInfo>({
  logFields,
  tools,
  client,
  call,
  logger,
}: McpServerDeps<Tool>) {
  return {
    listTools: (): ListedTool[] => tools.map(describeTool),
    async callTool(
      received: ReceivedCall,
    ): Promise<{ result: CallToolResult } | { ask: McpAsk } | { problem: McpProblem }> {
      const tool = tools.find(({ name }) => name === received.name);
      if (!tool) return { problem: { kind: "invalid", message: `there is no tool named ${received.name}` } };
      try {
        const result = await call(tool, received.input, {
          callId: newId("call"),
          client,
          hasTool: (wanted) => tools.some(({ name }) => name === wanted),
          signal: received.signal,
          progress: createProgress(received),
        });
        return isAsk(result) ? result : { result };
      } catch (error) {
        logger.error({ err: error, ...logFields, tool: tool.name }, "a call over MCP failed");
        return { problem: { kind: "internal", message: failureOf(error).error } };
      }
    },
  };
}

const isAsk = (result: CallToolResult | { ask: McpAsk }): result is { ask: McpAsk } => "ask" in result;

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

/** Describes a tool for the tool list. */
const describeTool = ({ name, title, description, annotations, input, output }: McpToolInfo): ListedTool => ({
  name,
  title,
  description,
  annotations,
  inputSchema: toObjectSchema(input, "input"),
  ...(output && { outputSchema: toObjectSchema(output, "output") }),
});

/** Replaces what cannot be derived from a schema by its `shownAs`, as in the OpenAPI document. */
function showAs(jsonSchema: Record<string, unknown>): void {
  const { shownAs } = jsonSchema;
  delete jsonSchema.shownAs;
  if (shownAs !== undefined) Object.assign(jsonSchema, shownAs);
}

/** JSON Schemas by zod schema. A schema is either the input or the output of tools, never both. */
const jsonSchemas = new WeakMap<z.ZodType, ListedTool["inputSchema"]>();

function toObjectSchema(schema: z.ZodType, io: "input" | "output"): ListedTool["inputSchema"] {
  const cached = jsonSchemas.get(schema);
  if (cached) return cached;
  // The SDK's type requires an object schema. The cast is safe, because the input and output of every tool are objects.
  const converted = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => showAs(jsonSchema),
  }) as ListedTool["inputSchema"];
  jsonSchemas.set(schema, converted);
  return converted;
}
