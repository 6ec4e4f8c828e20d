import type { Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";
import {
  listEvidence,
  listTranscript,
  readMessage,
  readToolResult,
  searchTranscript,
} from "./transcript-tools.ts";

/** The tools that read the session's messages, tool results and evidence. */
export const transcriptTools = (services: TranscriptServices): Tool[] => [
  readMessage(services),
  listTranscript(services),
  searchTranscript(services),
  readToolResult(services),
  listEvidence(services),
];
