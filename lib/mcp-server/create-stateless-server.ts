import {
  type CallToolResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { createMcpAnswers, type McpServerDeps, SERVER_INFO } from "./answer-requests.ts";
import { type ClientOffer, TASKS_EXTENSION } from "./client-offer.ts";
import type { McpToolInfo } from "./mcp-tool.ts";
import type { SessionTasks } from "./sessions/session-tasks.ts";
import { START_TOOL } from "./sessions/session-tools.ts";

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
    capabilities: { tools: {}, ...(deps.tasks && { extensions: { [TASKS_EXTENSION]: {} } }) },
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
    if ("result" in answer && deps.tasks && isStarted(params.name, answer.result) && deps.client.hasTasks) {
      const tasks = await deps.tasks(mcpReq.signal);
      // The package has no type for results of the extension.
      return unlessProblem(await tasks.create(answer.result)) as unknown as CallToolResult;
    }
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
  if (deps.tasks) serveTasks(server, deps.tasks, deps.client);
  return server;
}

const isStarted = (name: string, { isError }: { isError?: boolean | undefined }): boolean =>
  name === START_TOOL && isError !== true;

/**
 * Serves the requests of the extension for tasks. The package has no code for them. Source: Model Context Protocol extension
 * `io.modelcontextprotocol/tasks` 2026-07-28, Tasks; decision 137.
 */
function serveTasks(
  server: Server,
  open: (signal: AbortSignal) => Promise<SessionTasks>,
  client: ClientOffer,
): void {
  const taskId = z.string();
  const admit = (signal: AbortSignal) => {
    if (client.hasTasks) return open(signal);
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
    });
  };
  server.setRequestHandler("tasks/get", { params: z.object({ taskId }) }, async (params, { mcpReq }) =>
    unlessProblem(await (await admit(mcpReq.signal)).get(params.taskId)),
  );
  server.setRequestHandler("tasks/update", { params: z.object({ taskId }) }, async (params, { mcpReq }) => {
    const tasks = await admit(mcpReq.signal);
    // The package takes the responses out of the parameters of every request.
    return unlessProblem(await tasks.update(params.taskId, mcpReq.inputResponses ?? {}));
  });
  server.setRequestHandler("tasks/cancel", { params: z.object({ taskId }) }, async (params, { mcpReq }) =>
    unlessProblem(await (await admit(mcpReq.signal)).cancel(params.taskId)),
  );
}

/** Returns the result of a request. @throws ProtocolError if there is none. */
function unlessProblem<Result extends object>(result: Result | { problem: string }): Result {
  if (!("problem" in result)) return result;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, String(result.problem));
}
