import { z } from "zod";
import { defineTool, jsonResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

/** `search_transcript`: messages that hold a text. */
export const searchTranscript = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "search_transcript",
    description:
      "Finds messages of this session whose text holds the given text (case does not matter), newest first.",
    input: z.object({
      text: z.string().min(1).max(500),
      limit: z.number().int().min(1).max(50).default(10),
    }),
    needs: undefined,
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    async execute({ text, limit }, call) {
      const found = await transcript.search(call.sessionId, text, limit);
      return jsonResult(
        found.map(({ message: { id, seq, role, createdAt }, excerpt }) => ({
          id,
          seq,
          role,
          createdAt,
          excerpt,
        })),
      );
    },
  });
