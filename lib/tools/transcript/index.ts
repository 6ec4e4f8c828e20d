import type { Tool } from "../tool.ts";
import { listEvidence } from "./list-evidence.ts";
import { listTranscript } from "./list-transcript.ts";
import { readMessage } from "./read-message.ts";
import { readToolResult } from "./read-tool-result.ts";
import { searchTranscript } from "./search-transcript.ts";
import type { TranscriptServices } from "./services.ts";

/** The tools that look back at what the session has said, done and kept. */
export const transcriptTools = (services: TranscriptServices): Tool[] => [
  readMessage(services),
  listTranscript(services),
  searchTranscript(services),
  readToolResult(services),
  listEvidence(services),
];
