import { z } from "zod";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { textOf } from "#lib/session/transcript.ts";
import { defineTool, jsonResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

const previewCharacters = 240;

/** `list_transcript`: the messages so far, each with its beginning. */
export const listTranscript = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "list_transcript",
    description:
      "Lists the messages of this session in order, each with its beginning and the tools it called. " +
      "Where nextAfter is given there are more: pass it as after.",
    input: z.object({
      after: z.number().int().min(0).default(0).describe("seq of the last message already seen"),
      limit: z.number().int().min(1).max(100).default(50),
    }),
    needs: undefined,
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    async execute({ after, limit }, call) {
      const messages = await transcript.list(call.sessionId, { after, limit: limit + 1 });
      const shown = messages.slice(0, limit);
      const nextAfter = messages.length > limit ? shown.at(-1)?.seq : undefined;
      return jsonResult({ messages: shown.map(summarize), nextAfter });
    },
  });

function summarize(message: TranscriptMessage) {
  const text = textOf(message);
  const tools = message.parts.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : []));
  const { id, seq, role, createdAt } = message;
  const isCut = text.length > previewCharacters;
  return {
    id,
    seq,
    role,
    createdAt,
    text: isCut ? `${text.slice(0, previewCharacters)}…` : text,
    ...(tools.length > 0 ? { tools } : {}),
  };
}
