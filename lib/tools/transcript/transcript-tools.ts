import { z } from "zod";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { textOf } from "#lib/session/transcript/transcript.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../quote-as-data.ts";
import { defineTool, errorResult, jsonResult, type Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";

const PREVIEW_CHARACTERS = 240;

/** `list_transcript`: lists the messages of the session so far, with the beginning of each text. */
const listTranscript = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "list_transcript",
    description: "Lists this session's messages with their tool calls.",
    input: z.object({
      after: z.number().int().min(0).default(0).describe("nextAfter of the answer"),
      limit: z.number().int().min(1).max(100).default(50),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
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
  return {
    id,
    seq,
    role,
    createdAt,
    text: shorten(text, PREVIEW_CHARACTERS),
    ...(tools.length > 0 ? { tools } : {}),
  };
}

/** `read_message`: reads one whole message of the transcript or of an imported conversation. */
const readMessage = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "read_message",
    description: "Reads one message of this session.",
    input: z.object({ messageId: z.string().min(1) }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute({ messageId }, call) {
      const imported = await transcript.readImported(call.sessionId, messageId);
      if (imported) return quoteAsData("an imported conversation", JSON.stringify(imported, null, 1));
      const message = await transcript.read(call.sessionId, messageId);
      return message
        ? jsonResult(message)
        : errorResult(`messageId: this session has no message ${messageId}`);
    },
  });

/** `search_transcript`: finds messages of the session and of imported conversations that contain a text. */
const searchTranscript = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "search_transcript",
    description: "Finds messages of this session by text, newest first.",
    input: z.object({
      text: z.string().min(1).max(500),
      limit: z.number().int().min(1).max(50).default(10),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute({ text, limit }, call) {
      const found = await transcript.search(call.sessionId, text, limit);
      const own = found.map(({ message: { id, seq, role, createdAt }, excerpt }) => ({
        id,
        seq,
        role,
        createdAt,
        excerpt,
      }));
      const imported = await transcript.searchImported(call.sessionId, text, limit);
      if (imported.length === 0) return jsonResult(own);
      const quoted = quoteAsData("imported conversations", JSON.stringify(imported, null, 1));
      return `${JSON.stringify(own, null, 1)}\n${quoted}`;
    },
  });

const CHARACTERS_MAX = 20_000;

/** `read_tool_result`: reads a part of a tool result that was too long to be shown in full. */
const readToolResult = ({ transcript }: TranscriptServices): Tool =>
  defineTool({
    name: "read_tool_result",
    description: "Reads on in a tool result that was shown cut.",
    input: z.object({
      resultId: z.string().min(1),
      offset: z.number().int().min(0).max(2_000_000_000).default(0),
      limit: z.number().int().min(1).max(CHARACTERS_MAX).default(CHARACTERS_MAX),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute({ resultId, offset, limit }, call) {
      const page = await transcript.readToolResult(call.sessionId, resultId, { offset, limit });
      if (!page) return errorResult(`resultId: this session has no result ${resultId}`);
      if (page.state === "started") return errorResult(`${page.toolName} has no result yet`);
      const end = Math.min(offset + limit, page.totalCharacters);
      const next = end < page.totalCharacters ? `; continue with offset ${end}` : "";
      const range = `characters ${Math.min(offset, end)} to ${end} of ${page.totalCharacters}${next}`;
      return `${page.text}\n[${page.toolName} ${page.state}, ${range}]`;
    },
  });

const ENTRIES_MAX = 200;

/** `list_evidence`: lists the newest evidence of the session, such as pictures and saved pages. */
const listEvidence = ({ evidence }: TranscriptServices): Tool =>
  defineTool({
    name: "list_evidence",
    description: "Lists the session's evidence (pictures, pages, files), newest first.",
    input: z.object({}),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute(_, call) {
      const newest = await evidence.listNewest(call.sessionId, ENTRIES_MAX);
      // Each entry is on its own line, so that the model can read the entries of a list that is cut.
      const lines = newest.evidence.map((each) => JSON.stringify(each));
      return `{"total":${newest.total},"evidence":[\n${lines.join(",\n")}\n]}`;
    },
  });

/** The tools that read the session's messages, tool results and evidence. */
export const transcriptTools = (services: TranscriptServices): Tool[] => [
  readMessage(services),
  listTranscript(services),
  searchTranscript(services),
  readToolResult(services),
  listEvidence(services),
];
