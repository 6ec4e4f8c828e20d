import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { type ModelFailure, readModelFailure } from "./failure.ts";
import type { ModelAccess } from "./model-access.ts";

/** Whether the model answers, judged by the calls that were made anyway. */
type ModelHealth = { ok: boolean; detail: string };

/** One failed call may be an accident; the retry chain soon makes the second. */
const FAILURES_MIN = 2;
/** An older failure says nothing about now. */
const RELEVANT_MS = 10 * 60_000;
/** The server answered, and refused this one request. */
const ABOUT_THE_REQUEST = new Set([400, 413, 422]);

/**
 * Wraps a model so that the outcome of every call is recorded. It makes no calls of its own.
 *
 * @param now the clock, in milliseconds.
 * @returns the model to use instead, and a description of what its last calls saw.
 */
export function observeModel(
  access: ModelAccess,
  now: () => number = Date.now,
): { model: ModelAccess; readHealth: () => ModelHealth } {
  let succeededAt: number | undefined;
  let failedAt = 0;
  let failures = 0;
  let lastFailure = "";

  function noteSuccess(): void {
    succeededAt = now();
    failures = 0;
  }
  function noteFailure(error: unknown, signal: AbortSignal | undefined): void {
    // A call that we ended ourselves says nothing about the model, except when its time was up.
    if (signal?.aborted && (signal.reason as Error | undefined)?.name !== "TimeoutError") return;
    const failure = readModelFailure(error);
    if (failure.statusCode !== undefined && ABOUT_THE_REQUEST.has(failure.statusCode)) return;
    failedAt = now();
    failures += 1;
    lastFailure = describeFailure(failure);
  }

  /** Passes the parts of one answer on; the first part that settles the outcome counts. */
  function watchParts(signal: AbortSignal | undefined) {
    let isSettled = false;
    const settle = (note: () => void) => {
      if (!isSettled) note();
      isSettled = true;
    };
    // The types of the standard library lack `cancel`.
    const transformer: Transformer<LanguageModelV4StreamPart, LanguageModelV4StreamPart> & {
      cancel: (reason: unknown) => void;
    } = {
      transform(part, controller) {
        if (part.type === "error") settle(() => noteFailure(part.error, signal));
        else if (part.type === "finish") {
          const isFailed = part.finishReason.unified === "error";
          settle(() => (isFailed ? noteFailure("the answer was broken off", signal) : noteSuccess()));
        }
        controller.enqueue(part);
      },
      // The connection broke; a reader that stops early gives no error.
      cancel(reason) {
        if (reason instanceof Error) settle(() => noteFailure(reason, signal));
      },
    };
    return new TransformStream(transformer);
  }

  const model = wrapLanguageModel({
    model: access.model,
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ doGenerate, params }) {
        try {
          const result = await doGenerate();
          noteSuccess();
          return result;
        } catch (error) {
          noteFailure(error, params.abortSignal);
          throw error;
        }
      },
      async wrapStream({ doStream, params }) {
        try {
          const { stream, ...rest } = await doStream();
          return { stream: stream.pipeThrough(watchParts(params.abortSignal)), ...rest };
        } catch (error) {
          noteFailure(error, params.abortSignal);
          throw error;
        }
      },
    },
  });

  function readHealth(): ModelHealth {
    const at = (ms: number) => new Date(ms).toISOString();
    if (failures > 0) {
      const calls = failures === 1 ? "the last call" : `the last ${failures} calls`;
      const detail = `${access.label}; ${calls} failed, most recently at ${at(failedAt)} (${lastFailure})`;
      return { ok: failures < FAILURES_MIN || now() - failedAt > RELEVANT_MS, detail };
    }
    const seen = succeededAt === undefined ? "not called yet" : `last call succeeded at ${at(succeededAt)}`;
    return { ok: true, detail: `${access.label}; ${seen}` };
  }

  return { model: { ...access, model }, readHealth };
}

/** The kind of a failure. Readiness is public, so the provider's own sentence is left out. */
const describeFailure = ({ statusCode }: ModelFailure): string =>
  statusCode === undefined || statusCode < 400 ? "no usable answer" : `HTTP ${statusCode}`;
