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

/** The part of the deployment's model that calls need. */
export type CalledModel = Pick<ModelAccess, "model" | "providerOptions" | "toolErrors" | "outcomes">;

/** What a model is asked. */
export type ModelRequest = {
  instructions: string;
  messages: readonly ModelMessage[];
  /** None for a call without tools. */
  tools?: ModelTools;
  responseFormat?: LanguageModelV4CallOptions["responseFormat"];
  /** Default are those of the deployment's model. */
  providerOptions?: SharedV4ProviderOptions;
};

/** A call in an answer. `error` says why its input does not fit the tool; `input` is what the model wrote then. */
export type AnsweredCall = ReadInput & { callId: string; name: string };

/** What a model answered, whole. */
export type ModelAnswer = {
  /** The answer's text. */
  text: string;
  calls: AnsweredCall[];
  /** The answer as the next call is shown it; no message for an answer without content. */
  messages: ModelMessage[];
  finishReason: LanguageModelV4FinishReason["unified"];
  usage: ModelUsage;
};

/** The pieces of an answer that are shown while it is written. */
export type AnswerDelta = { kind: "text" | "reasoning" | "tool-input"; text: string };

type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type TextPart = Extract<AssistantPart, { type: "text" | "reasoning" }>;

/** The longest wait for the next piece of an answer. */
const PIECE_TIMEOUT_MS = 120_000;

/**
 * Makes one streamed call of the model through the AI SDK's provider, without retries. `streamText` would take 1 ms more of
 * CPU a call and would check all messages again each time (`facts.md`, AI SDK 7).
 *
 * @param stop ends the call; the reason of its signal is thrown.
 * @param onDelta is called with every piece in order, before the next is read.
 * @throws whatever the provider threw or reported, for `readModelFailure`; the signal's reason; a `TimeoutError`
 * when the provider sent nothing for 120 s.
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

/** The provider ended its stream without saying that the answer is complete. */
export class UnfinishedAnswerError extends Error {
  constructor() {
    super("The stream of the answer ended without its last part.");
    this.name = "UnfinishedAnswerError";
  }
}

/** Reads the parts of an answer to the last, or until the call ends. */
async function readStream(
  stream: LanguageModelV4StreamResult["stream"],
  gatherer: ReturnType<typeof createGatherer>,
  { signal, notePiece }: Pick<ReturnType<typeof watchPieces>, "signal" | "notePiece">,
  onDelta: (delta: AnswerDelta) => Promise<void> | void,
): Promise<ModelAnswer> {
  const reader = stream.getReader();
  // A read that waits ends at once then. That the provider could not be told changes nothing.
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

/** Puts an answer together from its parts. */
function createGatherer(tools: ModelTools) {
  const parts: AssistantPart[] = [];
  const open = new Map<string, TextPart>();
  const calls: AnsweredCall[] = [];
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;

  /** The text part with this id, begun where it is new. What the provider notes last of it counts. */
  function openPart(type: "text" | "reasoning", id: string, metadata?: SharedV4ProviderMetadata): TextPart {
    const key = `${type} ${id}`;
    const known = open.get(key);
    const part: TextPart = known ?? { type, text: "" };
    if (!known) {
      open.set(key, part);
      parts.push(part);
    }
    if (metadata) part.providerOptions = metadata;
    return part;
  }

  /** Takes a part. @returns the piece of the answer that it brings. @throws what an error part reports. */
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
        // A tool of the provider's own is never offered, and could not be answered.
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
    // A provider takes objects only.
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
    /** @throws UnfinishedAnswerError when the stream ended too early. */
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

/** A signal that follows `stop`, and that fires with a `TimeoutError` when no piece came for too long. */
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

/** Waits for the stream of an answer, but not beyond the end of the call: a model need not look at its signal. */
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
    // What comes after the end of the call is let go of, and a failure after it is no news.
    answer.then(
      ({ stream }) => stream.cancel(signal.reason).catch(() => {}),
      () => {},
    );
    throw signal.reason;
  } finally {
    signal.removeEventListener("abort", onEnd);
  }
}
