import {
  type CallToolResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from "@modelcontextprotocol/server";
import { createMcpAnswers, type McpServerDeps, SERVER_INFO } from "./answer-requests.ts";
import type { McpToolInfo } from "./mcp-tool.ts";

/**
 * How long clients may keep the list of tools, in milliseconds. The tools of a token do not change, but a deployment with
 * other tools can replace this one.
 */
const LIST_TTL_MS = 300_000;

/**
 * Creates a server of the official packages for the revision 2026-07-28, which has no `initialize`. The casts
 * are needed because tools and results have the types of the older package.
 */
export function createStatelessServer<Offered extends McpToolInfo>(deps: McpServerDeps<Offered>): Server {
  const answers = createMcpAnswers(deps);
  const cacheHint = { ttlMs: LIST_TTL_MS, cacheScope: "private" } as const;
  const server = new Server(SERVER_INFO, {
    capabilities: { tools: {} },
    instructions: deps.instructions,
    cacheHints: { "tools/list": cacheHint, "server/discover": cacheHint },
  });
  server.setRequestHandler("tools/list", () => ({ tools: answers.listTools() as Tool[] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const answer = await answers.callTool({
      name: params.name,
      input: params.arguments,
      signal: mcpReq.signal,
      progressToken: mcpReq._meta?.progressToken,
      sendProgress: (params) => mcpReq.notify({ method: "notifications/progress", params }),
    });
    if ("result" in answer) return answer.result as CallToolResult;
    if ("ask" in answer) {
      const { itemId, message, url } = answer.ask;
      // The repeated call is recognised by its arguments, so the client's copy of the state decides nothing.
      return inputRequired({
        inputRequests: { [itemId]: inputRequired.elicitUrl({ message, url }) },
        requestState: itemId,
      });
    }
    const { kind, message } = answer.problem;
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    throw new ProtocolError(kind === "invalid" ? InvalidParams : InternalError, message);
  });
  return server;
}
