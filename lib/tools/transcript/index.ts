import type { Tool } from "../tool.ts";
import type { TranscriptServices } from "./services.ts";
import {
  listEvidence,
  listTranscript,
  readMessage,
  readToolResult,
  searchTranscript,
} from "./transcript-tools.ts";

/** The tools that look back at what the session has said, done and kept. */
export const transcriptTools = (services: TranscriptServices): Tool[] => [
  readMessage(services),
  listTranscript(services),
  searchTranscript(services),
  readToolResult(services),
  listEvidence(services),
];
