import { z } from "zod";
import { defineTool, errorResult, jsonResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

/** `read_message`: one message of the transcript, whole. */
export const readMessage = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "read_message",
    description: "Reads one message of this session's transcript with all its parts.",
    input: z.object({ messageId: z.string().min(1).describe("id as list_transcript tells it") }),
    needs: undefined,
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    async execute({ messageId }, call) {
      const message = await transcript.read(call.sessionId, messageId);
      return message
        ? jsonResult(message)
        : errorResult(`messageId: this session has no message ${messageId}`);
    },
  });
