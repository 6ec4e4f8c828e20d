import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4ProviderMetadata,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import type { ModelAccess } from "../model-access.ts";
import { type ModelUsage, readUsage } from "../usage.ts";
import { type ModelTools, type ReadInput, readInput } from "./model-tool.ts";
import { writePrompt } from "./write-prompt.ts";

/** The fields of {@link ModelAccess} that a call needs. */
export type CalledModel = Pick<ModelAccess, "model" | "providerOptions" | "toolErrors" | "outcomes">;

/** The input of a model call. */
export type ModelRequest = {
  instructions: string;
  messages: readonly ModelMessage[];
  /** Omit for a call without tools. */
  tools?: ModelTools;
  responseFormat?: LanguageModelV4CallOptions["responseFormat"];
  /** Default: the options of the deployment's model. */
  providerOptions?: SharedV4ProviderOptions;
};

/** A tool call in an answer. `error`: why its input is not valid; `input` is then what the model wrote. */
export type AnsweredCall = ReadInput & { callId: string; name: string };

/** A complete answer of a model. */
export type ModelAnswer = {
  text: string;
  calls: AnsweredCall[];
  /** The answer in the form of messages for the prompt of the next call; empty if the answer has no content. */
  messages: ModelMessage[];
  finishReason: LanguageModelV4FinishReason["unified"];
  usage: ModelUsage;
};

/** A piece of an answer, reported while the model writes it. */
export type AnswerDelta = { kind: "text" | "reasoning" | "tool-input"; text: string };

type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type TextPart = Extract<AssistantPart, { type: "text" | "reasoning" }>;

/** Maximum wait for the next piece of an answer. */
const PIECE_TIMEOUT_MS = 120_000;

/**
 * Makes one streamed model call through the AI SDK's provider, without retries. It does not use `streamText`, because
 * `streamText` validates all messages on each call and takes 1 ms more CPU time per call (`facts.md`, AI SDK 7).
 *
 * @param stop ends the call when it aborts; the call then throws the signal's reason.
 * @param onDelta is called with each piece in order and awaited before the next piece is read.
 * @throws any error that the provider threw or reported (convert it with `readModelFailure`); the signal's reason; a
 * `TimeoutError` when the provider sent nothing for 120 s; {@link UnfinishedAnswerError} when the stream ended early.
 */
export async function streamModel(
  access: CalledModel,
  request: ModelRequest,
  stop: AbortSignal,
  onDelta: (delta: AnswerDelta) => Promise<void> | void,
): Promise<ModelAnswer> {
  const { instructions, messages, tools, responseFormat, providerOptions = access.providerOptions } = request;
  const watched = watchPieces(stop);
  try {
    const options: LanguageModelV4CallOptions = {
      prompt: writePrompt(instructions, messages, access.toolErrors),
      providerOptions,
      abortSignal: watched.signal,
      ...(responseFormat && { responseFormat }),
      ...(tools?.size && {
        tools: [...tools.values()].map(({ definition }) => definition),
        toolChoice: AUTO,
      }),
    };
    const stream = await openStream(access.model.doStream(options), watched.signal);
    const answer = await readStream(stream, createGatherer(tools ?? NO_TOOLS), watched, onDelta);
    if (answer.finishReason === "error") access.outcomes?.noteFailure(new UnfinishedAnswerError(), stop);
    else access.outcomes?.noteSuccess();
    return answer;
  } catch (error) {
    access.outcomes?.noteFailure(error, watched.signal);
    throw error;
  } finally {
    watched.close();
  }
}

const AUTO = { type: "auto" } as const;
const NO_TOOLS: ModelTools = new Map();

/** Thrown if the provider ended its stream without a finish part. */
export class UnfinishedAnswerError extends Error {
  constructor() {
    super("The stream of the answer ended without its last part.");
    this.name = "UnfinishedAnswerError";
  }
}

/** Reads the parts of an answer until the stream ends or the call is stopped. */
async function readStream(
  stream: LanguageModelV4StreamResult["stream"],
  gatherer: ReturnType<typeof createGatherer>,
  { signal, notePiece }: Pick<ReturnType<typeof watchPieces>, "signal" | "notePiece">,
  onDelta: (delta: AnswerDelta) => Promise<void> | void,
): Promise<ModelAnswer> {
  const reader = stream.getReader();
  // Cancelling ends a pending read at once. A failure to cancel is ignored, because the call ends anyway.
  const close = () => void reader.cancel(signal.reason).catch(() => {});
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      if (signal.aborted) throw signal.reason;
      if (done) return gatherer.finish();
      notePiece();
      const delta = gatherer.add(part);
      const shown = delta && onDelta(delta);
      if (shown) await shown;
    }
  } catch (error) {
    close();
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Assembles an answer from its stream parts. */
function createGatherer(tools: ModelTools) {
  const parts: AssistantPart[] = [];
  const open = new Map<string, TextPart>();
  const calls: AnsweredCall[] = [];
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;

  /**
   * Returns the part with this id, and creates it if there is none. New metadata of the part replaces earlier metadata.
   */
  function openPart(type: "text" | "reasoning", id: string, metadata?: SharedV4ProviderMetadata): TextPart {
    const key = `${type} ${id}`;
    const existing = open.get(key);
    const part: TextPart = existing ?? { type, text: "" };
    if (!existing) {
      open.set(key, part);
      parts.push(part);
    }
    if (metadata) part.providerOptions = metadata;
    return part;
  }

  /**
   * Adds a stream part. @returns the piece of the answer in the part, if it has one. @throws the error of an error
   * part.
   */
  function add(part: LanguageModelV4StreamPart): AnswerDelta | undefined {
    switch (part.type) {
      case "error":
        throw part.error;
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
        openPart(kind, part.id, part.providerMetadata).text += part.delta;
        return { kind, text: part.delta };
      }
      case "tool-input-delta":
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
  }

  function addCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>) {
    const { toolCallId, toolName, providerMetadata } = part;
    const read = readInput(tools, toolName, part.input);
    calls.push({ callId: toolCallId, name: toolName, ...read });
    // Providers accept only an object as the input of a call, so an invalid input of another type is sent back as `{}`.
    const input = read.error && (typeof read.input !== "object" || read.input === null) ? {} : read.input;
    parts.push({
      type: "tool-call",
      toolCallId,
      toolName,
      input,
      ...(providerMetadata && { providerOptions: providerMetadata }),
    });
  }

  return {
    add,
    /** Returns the complete answer. @throws UnfinishedAnswerError when there was no finish part. */
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
        finishReason: finish.finishReason.unified,
        usage: readUsage(finish.usage),
      };
    },
  };
}

/** Creates a signal that aborts with `stop`, or with a `TimeoutError` when no piece arrived in time. */
function watchPieces(stop: AbortSignal) {
  const limited = new AbortController();
  const onStop = () => limited.abort(stop.reason);
  const onSilence = () =>
    limited.abort(new DOMException("The provider sent nothing for too long.", "TimeoutError"));
  const timer = setTimeout(onSilence, PIECE_TIMEOUT_MS);
  timer.unref();
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  return {
    signal: limited.signal,
    notePiece: () => timer.refresh(),
    close() {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    },
  };
}

/** Waits for the stream of an answer, at most until `signal` aborts, because a model may ignore its signal. */
async function openStream(
  answer: PromiseLike<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<LanguageModelV4StreamResult["stream"]> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onEnd = () => reject(signal.reason);
  if (signal.aborted) onEnd();
  else signal.addEventListener("abort", onEnd, { once: true });
  try {
    return (await Promise.race([answer, ended])).stream;
  } catch (error) {
    if (!signal.aborted) throw error;
    // Cancels a stream that arrives after the end of the call, and ignores later failures.
    answer.then(
      ({ stream }) => stream.cancel(signal.reason).catch(() => {}),
      () => {},
    );
    throw signal.reason;
  } finally {
    signal.removeEventListener("abort", onEnd);
  }
}
