import { z } from "zod";
import { defineTool, errorResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

const charactersMax = 20_000;

/** `read_tool_result`: a piece of a result that was too long to be shown whole. */
export const readToolResult = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "read_tool_result",
    description:
      "Reads on in the result of an earlier tool call that was shown cut. A closing line in brackets tells the " +
      "offset to go on with.",
    input: z.object({
      resultId: z.string().min(1).describe("id that the cut result names"),
      offset: z.number().int().min(0).max(2_000_000_000).default(0).describe("characters to skip"),
      limit: z.number().int().min(1).max(charactersMax).default(charactersMax),
    }),
    needs: undefined,
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    async execute({ resultId, offset, limit }, call) {
      const page = await transcript.readToolResult(call.sessionId, resultId, { offset, limit });
      if (!page) return errorResult(`resultId: this session has no result ${resultId}`);
      if (page.state === "started") return errorResult(`${page.toolName} has no result yet`);
      const end = Math.min(offset + limit, page.totalCharacters);
      const next = end < page.totalCharacters ? `; go on with offset ${end}` : "";
      const range = `characters ${Math.min(offset, end)} to ${end} of ${page.totalCharacters}${next}`;
      return `${page.text}\n[${page.toolName} ${page.state}, ${range}]`;
    },
  });
