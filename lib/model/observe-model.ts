import { type ModelFailure, readModelFailure } from "./failure.ts";
import type { ModelAccess, ModelOutcomes } from "./model-access.ts";

/** Whether the model answers, judged by the calls that were made anyway. */
type ModelHealth = { ok: boolean; detail: string };

/** One failed call may be an accident; the retry chain soon makes the second. */
const FAILURES_MIN = 2;
/** An older failure says nothing about now. */
const RELEVANT_MS = 10 * 60_000;
/** The server answered, and refused this one request. */
const ABOUT_THE_REQUEST = new Set([400, 413, 422]);

/**
 * Keeps the outcomes of a model's calls, which their callers report. It makes no calls of its own.
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

  const outcomes: ModelOutcomes = { noteSuccess, noteFailure };

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

  return { model: { ...access, outcomes }, readHealth };
}

/** The kind of a failure. Readiness is public, so the provider's own sentence is left out. */
const describeFailure = ({ statusCode }: ModelFailure): string =>
  statusCode === undefined || statusCode < 400 ? "no usable answer" : `HTTP ${statusCode}`;
