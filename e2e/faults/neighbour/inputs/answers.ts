import { FLOOD_TOOL, type HostileInput } from "../hostile-input.ts";
import { call, DONE } from "./parts.ts";

const ANSWER_BYTES = 50 * 1_048_576;
const CALLS = 120;
const CHUNK_BYTES = 65_536;

/** Inputs of what the service receives: answers of models and tool servers. */
export const answerInputs: HostileInput[] = [
  {
    name: "model-text",
    title: "a model that answers with 50 MB of text",
    steps: () => [
      {
        textChunks: Array.from({ length: ANSWER_BYTES / CHUNK_BYTES }, () => "word ".repeat(CHUNK_BYTES / 5)),
      },
    ],
  },
  {
    name: "tool-answer",
    title: "a tool server that answers with 50 MB",
    toolResult: () => ({ content: [{ type: "text", text: "x".repeat(ANSWER_BYTES) }] }),
    steps: () => [call(FLOOD_TOOL, {}), DONE],
  },
  {
    name: "model-calls",
    title: `a model that makes ${CALLS} tool calls in each answer`,
    steps: () => [
      {
        toolCalls: Array.from({ length: CALLS }, () => ({
          name: "list_files",
          arguments: { path: "x".repeat(2_000) },
        })),
      },
      DONE,
    ],
  },
];
