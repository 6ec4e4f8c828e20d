import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/sdk/types.js";
import { createMcpAnswers, type McpServerDeps, SERVER_INFO } from "./answer-requests.ts";
import type { McpToolInfo } from "./mcp-tool.ts";

/** Creates a server of the official SDK for the revisions with `initialize`, up to 2025-11-25. */
export function createMcpServer<Tool extends McpToolInfo>(deps: McpServerDeps<Tool>): Server {
  const answers = createMcpAnswers(deps);
  const { instructions } = deps;
  const server = new Server(SERVER_INFO, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: answers.listTools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta, sendNotification }) => {
    const answer = await answers.callTool({
      name: params.name,
      input: params.arguments,
      signal,
      progressToken: _meta?.progressToken,
      sendProgress: (params) => sendNotification({ method: "notifications/progress", params }),
    });
    if ("result" in answer) return answer.result;
    if ("ask" in answer) {
      const { itemId, message, url } = answer.ask;
      throw new UrlElicitationRequiredError([{ mode: "url", elicitationId: itemId, message, url }], message);
    }
    const { kind, message } = answer.problem;
    throw new McpError(kind === "invalid" ? ErrorCode.InvalidParams : ErrorCode.InternalError, message);
  });
  return server;
}
