import { z } from "zod";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { McpClient } from "#lib/mcp-client/create-mcp-client.ts";
import { McpFailure, ServiceError } from "#lib/mcp-client/mcp-error.ts";
import { MCP_LIMITS } from "#lib/mcp-client/mcp-limits.ts";
import type { McpTurn } from "#lib/mcp-client/tool-server.ts";
import type { RemoteTool } from "#lib/mcp-client/tools/admit-tools.ts";
import type { McpAnswer } from "#lib/mcp-client/tools/read-answer.ts";
import { errorText } from "#lib/text/error-text.ts";
import { NO_PERSON } from "../questions/elicit-user-input.ts";
import { quoteAsData } from "../quote-as-data.ts";
import { showPicture } from "../show-picture.ts";
import {
  errorResult,
  makeTool,
  ServiceFailure,
  type Tool,
  type ToolCall,
  type ToolContent,
  type ToolResult,
  waitFor,
} from "../tool.ts";
import { readImageType } from "../workspace/read-image-type.ts";

type RemoteServices = { mcp: Pick<McpClient, "call" | "isOurs">; evidence: EvidenceStore };

/** Accepts any object or none, because the tool server checks the input itself. The model sees the server's schema. */
const INPUT = z.record(z.string(), z.unknown()).nullish();

/**
 * Long enough for a person to answer several questions of the tool server. The MCP client has shorter deadlines of its
 * own.
 */
const TIMEOUT_MS = MCP_LIMITS.callMs + 4 * MCP_LIMITS.answerMs;

/** Says who describes the tool, because the service does not know what another server writes. */
const quoteDescription = ({ serverId, description }: RemoteTool): string =>
  `A tool of the server "${serverId}", which says of it: ${description || "nothing"}`;

/**
 * Makes a tool of a session's tool server available to the agent, for one turn. The tool's description and results come
 * from outside, so they are data and not instructions. Source: specification, MCP servers; `security.md`, What comes
 * in.
 */
export const remoteTool = (remote: RemoteTool, turn: McpTurn, services: RemoteServices): Tool => ({
  ...makeTool({
    name: remote.name,
    description: services.mcp.isOurs(turn, remote.serverId) ? remote.description : quoteDescription(remote),
    input: INPUT,
    needs: undefined,
    profile: "editing",
    idempotent: remote.isIdempotent,
    readOnly: remote.isReadOnly,
    // The tools of the built-in server do not count as changes: some store a picture as evidence, but none changes
    // pages or files.
    changes: !remote.isReadOnly && !services.mcp.isOurs(turn, remote.serverId),
    timeoutMs: TIMEOUT_MS,
    async execute(input, call) {
      const { serverId, tool } = remote;
      const { callId, signal, waitEndedBy } = call;
      try {
        // Another process may have asked for this call and ended before it could wait.
        const mayHaveAsked = call.waitedFor !== undefined || (call.epoch ?? 1) > 1;
        const sent = {
          callId,
          serverId,
          tool,
          remote,
          input: input ?? {},
          signal,
          mayHaveAsked,
          waitEndedBy,
        };
        const answer = await services.mcp.call(turn, sent);
        if ("waitsFor" in answer)
          return waitFor({ kind: "person", subjects: answer.waitsFor, deadlineAt: answer.expiresAt });
        return await toResult(remote, answer, call, services.evidence);
      } catch (error) {
        if (error instanceof ServiceError) throw new ServiceFailure(error.cause);
        const reason = errorText(error);
        const advice =
          remote.isIdempotent || (error instanceof McpFailure && error.isUnsent)
            ? ""
            : " Whether the call did anything there is not known: check that before you make it again.";
        return errorResult(`No answer came from the tool server "${serverId}": ${reason}.${advice}`);
      }
    },
  }),
  jsonSchema: remote.inputSchema,
  isDestructive: remote.isDestructive && !services.mcp.isOurs(turn, remote.serverId),
});

async function toResult(
  remote: RemoteTool,
  { isError, parts, isDeclined = false }: McpAnswer,
  call: ToolCall,
  evidence: EvidenceStore,
): Promise<ToolResult> {
  const texts: string[] = [];
  const pictures: ToolContent[] = [];
  for (const part of parts) {
    if (part.type !== "picture") {
      texts.push(part.text);
      continue;
    }
    const mediaType = readImageType(part.bytes);
    if (!mediaType) {
      texts.push("[A picture that is no PNG, JPEG, WebP or GIF is not shown.]");
      continue;
    }
    const pointer = await evidence.save({
      sessionId: call.sessionId,
      runId: call.runId,
      kind: "file",
      title: `${remote.tool} of ${remote.serverId}`,
      url: null,
      mediaType,
      bytes: part.bytes,
    });
    texts.push(`[Picture: evidence ${pointer.id}]`);
    const shown = await showPicture(pointer, part.bytes);
    if (shown?.note) texts.push(shown.note);
    if (!shown) texts.push("[It is broken, so it is not shown.]");
    pictures.push(...(shown?.images ?? [{ type: "evidence" as const, evidence: pointer }]));
  }
  const text = texts.join("\n\n").trim() || "(an empty answer)";
  const quoted = quoteAsData(`the tool server "${remote.serverId}"`, text);
  const shown = isDeclined ? `${quoted}\n\nThe tool server asked for something. ${NO_PERSON}` : quoted;
  return { isError, content: [{ type: "text", text: shown }, ...pictures] };
}
