import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import { type ModelUsage, readUsage } from "../usage.ts";
import { type AnswerEnd, classifyEnd, readRawEnd } from "./answer-end.ts";
import { ANSWER_LIMITS, AnswerTooLargeError, inMebibytes } from "./answer-limits.ts";
import { type ModelTools, type ReadCall, readCall } from "./model-tool.ts";

/** A tool call in an answer. `error`: why its input is not valid; `input` is then what the model wrote. */
export type AnsweredCall = Omit<ReadCall, "written"> & { callId: string };

/** An answer of a model. Only the calls of a `complete` answer may run. */
export type ModelAnswer = {
  text: string;
  calls: AnsweredCall[];
  /** The answer in the form of messages for the prompt of the next call; empty if the answer has no content. */
  messages: ModelMessage[];
  end: AnswerEnd;
  usage: ModelUsage;
};

/** A piece of an answer, reported while the model writes it. */
export type AnswerDelta = { kind: "text" | "reasoning" | "tool-input"; text: string };

type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type TextPart = Extract<AssistantPart, { type: "text" | "reasoning" }>;

/** Thrown if the provider ended its stream without a finish part. */
export class UnfinishedAnswerError extends Error {
  constructor() {
    super("The stream of the answer ended without its last part.");
    this.name = "UnfinishedAnswerError";
  }
}

/** Assembles an answer from its stream parts, within {@link ANSWER_LIMITS}. */
export function createGatherer(tools: ModelTools) {
  const parts: AssistantPart[] = [];
  const open = new Map<string, TextPart>();
  const calls: AnsweredCall[] = [];
  const room = createRoom();
  let isIncomplete = false;
  let finish: { finishReason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage } | undefined;

  /**
   * Returns the part with this id, and creates it if there is none. New metadata of the part replaces earlier metadata.
   */
  function openPart(type: "text" | "reasoning", id: string, metadata?: SharedV4ProviderMetadata): TextPart {
    const key = `${type} ${id}`;
    const existing = open.get(key);
    const part: TextPart = existing ?? { type, text: "" };
    if (!existing) {
      room.countPart();
      open.set(key, part);
      parts.push(part);
    }
    if (metadata) {
      room.take(JSON.stringify(metadata));
      part.providerOptions = metadata;
    }
    return part;
  }

  function addCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>) {
    const { toolCallId, toolName, providerMetadata } = part;
    room.countCall(toolCallId);
    room.countInput(toolCallId, part.input);
    room.take(toolName);
    if (providerMetadata) room.take(JSON.stringify(providerMetadata));
    const { written, ...read } = readCall(tools, toolName, part.input);
    calls.push({ callId: toolCallId, ...read });
    const { name, via } = read;
    // The prompt has what the model wrote, without the defaults. Providers accept only an object as the input of a call,
    // so an invalid input of another type is sent back as `{}`.
    const input = typeof written === "object" && written !== null ? written : {};
    parts.push({
      type: "tool-call",
      toolCallId,
      toolName: via ?? name,
      input: via ? { name, input } : input,
      ...(providerMetadata && { providerOptions: providerMetadata }),
    });
  }

  /** Notes what an event of the provider says about the end of the answer. @throws the error in the event. */
  function recordRawEnd(event: unknown) {
    const end = readRawEnd(event);
    if (end && "error" in end) throw end.error;
    if (end) isIncomplete = true;
  }

  return {
    /**
     * Adds a stream part. @returns the piece of the answer in the part, if it has one. @throws the error of an error
     * part; AnswerTooLargeError.
     */
    add(part: LanguageModelV4StreamPart): AnswerDelta | undefined {
      switch (part.type) {
        case "error":
          throw part.error;
        case "raw":
          recordRawEnd(part.rawValue);
          return undefined;
        case "text-start":
        case "text-end":
        case "reasoning-start":
        case "reasoning-end": {
          const kind = part.type.startsWith("text") ? "text" : "reasoning";
          openPart(kind, part.id, part.providerMetadata);
          if (part.type.endsWith("end")) open.delete(`${kind} ${part.id}`);
          return undefined;
        }
        case "text-delta":
        case "reasoning-delta": {
          const kind = part.type === "text-delta" ? "text" : "reasoning";
          room.take(part.delta);
          openPart(kind, part.id, part.providerMetadata).text += part.delta;
          return { kind, text: part.delta };
        }
        case "tool-input-start":
          room.countCall(part.id);
          return undefined;
        case "tool-input-delta":
          room.countInput(part.id, part.delta, true);
          return { kind: "tool-input", text: part.delta };
        case "tool-call":
          // The service offers no tools that the provider executes, so it ignores calls of such tools.
          if (!part.providerExecuted) addCall(part);
          return undefined;
        case "finish":
          finish = part;
          return undefined;
        default:
          return undefined;
      }
    },
    /** Returns the whole answer. @throws UnfinishedAnswerError when there was no finish part. */
    finish(): ModelAnswer {
      if (!finish) throw new UnfinishedAnswerError();
      const content = parts.filter(
        (part) => part.type !== "text" || part.text !== "" || part.providerOptions,
      );
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return {
        text,
        calls,
        messages: content.length === 0 ? [] : [{ role: "assistant", content }],
        end: classifyEnd(finish.finishReason, {
          isIncomplete,
          // A call of a tool in an answer without tools is no answer.
          isEmpty: (calls.length === 0 || tools.size === 0) && text.trim() === "",
        }),
        usage: readUsage(finish.usage),
      };
    },
  };
}

/** Counts what an answer takes of {@link ANSWER_LIMITS}. Its functions throw an {@link AnswerTooLargeError}. */
function createRoom() {
  const { bytesMax, partsMax, callsMax } = ANSWER_LIMITS;
  /** Bytes of the input of each call that have arrived in pieces. */
  const inputs = new Map<string, number>();
  let bytes = 0;
  let parts = 0;

  function countBytes(count: number) {
    bytes += count;
    if (bytes > bytesMax)
      throw new AnswerTooLargeError(
        `it has more than ${inMebibytes(bytesMax)} of text, reasoning and tool arguments`,
      );
  }

  function countCall(id: string) {
    if (inputs.has(id)) return;
    countBytes(Buffer.byteLength(id));
    inputs.set(id, 0);
    if (inputs.size > callsMax) throw new AnswerTooLargeError(`it has more than ${callsMax} tool calls`);
  }

  return {
    take: (text: string) => countBytes(Buffer.byteLength(text)),
    countCall,
    countPart() {
      parts += 1;
      if (parts > partsMax) throw new AnswerTooLargeError(`it has more than ${partsMax} parts`);
    },
    /** Counts a piece of a call's input (`isPiece`), or the whole input, whose pieces may have been counted before. */
    countInput(id: string, text: string, isPiece = false) {
      countCall(id);
      const size = Buffer.byteLength(text);
      const counted = inputs.get(id) ?? 0;
      countBytes(isPiece ? size : Math.max(0, size - counted));
      inputs.set(id, isPiece ? counted + size : Math.max(counted, size));
    },
  };
}
