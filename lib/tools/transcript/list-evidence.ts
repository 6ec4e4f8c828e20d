import { z } from "zod";
import { defineTool, jsonResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

const entriesMax = 200;

/** `list_evidence`: the pictures and saved pages of the session. */
export const listEvidence = ({ evidence }: TranscriptServices): Tool =>
  defineTool({
    name: "list_evidence",
    description: `Lists what this session kept (screenshots, previews, saved pages, files) with id, page address and time; the newest ${entriesMax}.`,
    input: z.object({}),
    needs: undefined,
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    async execute(_, call) {
      const all = await evidence.list(call.sessionId);
      return jsonResult({ total: all.length, evidence: all.slice(-entriesMax) });
    },
  });
