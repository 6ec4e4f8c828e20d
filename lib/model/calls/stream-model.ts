import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamResult,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import { createDeadline } from "#lib/time/deadline.ts";
import type { ModelAccess } from "../model-access.ts";
import {
  type AnswerDelta,
  createGatherer,
  type ModelAnswer,
  UnfinishedAnswerError,
} from "./gather-answer.ts";
import { listSent, type ModelTool, type ModelTools } from "./model-tool.ts";
import { writePrompt } from "./write-prompt.ts";

/** The fields of {@link ModelAccess} that a call needs. */
export type CalledModel = Pick<
  ModelAccess,
  "model" | "hold" | "maxOutputTokens" | "hasRawEvents" | "providerOptions" | "toolErrors" | "outcomes"
>;

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

/** Maximum wait for the next piece of an answer. */
const PIECE_TIMEOUT_MS = 120_000;

/** A model call whose request is composed, but not sent yet. Pass it to {@link streamModel}, or drop it. */
export type ComposedCall = {
  answer: PromiseLike<LanguageModelV4StreamResult>;
  watched: ReturnType<typeof watchPieces>;
  /** Lets the request be sent. */
  send: () => void;
  /** Ends the call without sending its request. */
  drop: () => void;
};

/**
 * Composes a model call before it may be made. @returns undefined if the model cannot do that.
 *
 * A request with a long conversation takes milliseconds to compose, which the caller can use while it waits for a
 * write.
 */
export function composeCall(access: CalledModel, request: ModelRequest): ComposedCall | undefined {
  if (!access.hold) return undefined;
  const watched = watchPieces();
  const { answer, send, drop } = access.hold(() => beginCall(access, request, watched.signal));
  // If composing fails, the caller learns it when it makes the call.
  answer.then(undefined, () => {});
  return { answer, watched, send, drop };
}

async function beginCall(
  access: CalledModel,
  { instructions, messages, tools, responseFormat, providerOptions = access.providerOptions }: ModelRequest,
  signal: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  return access.model.doStream({
    prompt: writePrompt(instructions, messages, access.toolErrors),
    providerOptions,
    abortSignal: signal,
    ...(access.maxOutputTokens !== undefined && { maxOutputTokens: access.maxOutputTokens }),
    ...(access.hasRawEvents && { includeRawChunks: true }),
    ...(responseFormat && { responseFormat }),
    ...(tools?.size && {
      tools: listSent(tools).map(({ definition }) => (access.hold ? toSentTool(definition) : definition)),
      toolChoice: AUTO,
    }),
  });
}

type Definition = ModelTool["definition"];

const sentSchemas = new WeakMap<object, Definition["inputSchema"]>();

/**
 * Keeps the provider from copying a schema on each call (half a millisecond for the usual tools). The provider copies
 * schemas to remove keywords that its API refuses. A schema without these keywords is replaced by an object that is
 * serialized as the schema.
 */
function toSentTool(definition: Definition): Definition {
  const { inputSchema } = definition;
  let sent = sentSchemas.get(inputSchema);
  if (!sent) {
    const isCopied = /"(?:propertyNames|pattern|allOf)":/.test(JSON.stringify(inputSchema));
    sent = isCopied ? inputSchema : ({ toJSON: () => inputSchema } as Definition["inputSchema"]);
    sentSchemas.set(inputSchema, sent);
  }
  return { ...definition, inputSchema: sent };
}

const AUTO = { type: "auto" } as const;
const NO_TOOLS: ModelTools = new Map();

/**
 * Makes one streamed model call through the AI SDK's provider, without retries. It does not use `streamText`, because
 * `streamText` validates all messages on each call and takes 1 ms more CPU time per call (`facts.md`, AI SDK 7).
 *
 * @param stop ends the call when it aborts; the call then throws the signal's reason.
 * @param onDelta is called with each piece in order and awaited before the next piece is read.
 * @param composed the call if {@link composeCall} has composed it with the same request.
 * @throws any error that the provider threw or reported (convert it with `readModelFailure`); the signal's reason; a
 * `TimeoutError` when the provider sent nothing for 120 s; `UnfinishedAnswerError` when the stream ended early;
 * `AnswerTooLargeError` for an answer beyond `ANSWER_LIMITS`.
 */
export async function streamModel(
  access: CalledModel,
  request: ModelRequest,
  stop: AbortSignal,
  onDelta: (delta: AnswerDelta) => Promise<void> | void,
  composed?: ComposedCall,
): Promise<ModelAnswer> {
  const watched = composed?.watched ?? watchPieces();
  watched.begin(stop);
  try {
    composed?.send();
    const opening = composed?.answer ?? beginCall(access, request, watched.signal);
    const stream = await openStream(opening, watched.signal);
    const gatherer = createGatherer(request.tools ?? NO_TOOLS);
    const answer = await readStream(stream, gatherer, watched, onDelta);
    if (answer.end === "failed" || answer.end === "unknown")
      access.outcomes?.recordFailure(new UnfinishedAnswerError(), stop);
    else access.outcomes?.recordSuccess();
    return answer;
  } catch (error) {
    access.outcomes?.recordFailure(error, watched.signal);
    throw error;
  } finally {
    watched.close();
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
      // An event that only keeps the connection open is no piece of the answer.
      if (part.type !== "raw") notePiece();
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

/**
 * Creates the signal of a call. From `begin` on, the signal aborts with `stop`, or with a `TimeoutError` when no piece
 * arrived in time.
 */
function watchPieces() {
  const limited = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopListening = () => {};
  const onSilence = () =>
    limited.abort(new DOMException("The provider sent nothing for too long.", "TimeoutError"));
  return {
    signal: limited.signal,
    begin(stop: AbortSignal) {
      const onStop = () => limited.abort(stop.reason);
      timer = setTimeout(onSilence, PIECE_TIMEOUT_MS).unref();
      if (stop.aborted) onStop();
      else stop.addEventListener("abort", onStop, { once: true });
      stopListening = () => stop.removeEventListener("abort", onStop);
    },
    notePiece: () => void timer?.refresh(),
    close() {
      clearTimeout(timer);
      stopListening();
    },
  };
}

/** Waits for the stream of an answer, at most until `signal` aborts, because a model may ignore its signal. */
async function openStream(
  answer: PromiseLike<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<LanguageModelV4StreamResult["stream"]> {
  try {
    return (await createDeadline({ signal }).race(answer)).stream;
  } catch (error) {
    if (!signal.aborted) throw error;
    // Cancels a stream that arrives after the end of the call, and ignores later failures.
    answer.then(
      ({ stream }) => stream.cancel(signal.reason).catch(() => {}),
      () => {},
    );
    throw signal.reason;
  }
}
