import { type ModelFailure, readModelFailure } from "./failure.ts";
import type { ModelAccess, ModelOutcomes } from "./model-access.ts";

/** The health of the model, judged by the calls that turns make. */
type ModelHealth = { ok: boolean; detail: string };

/**
 * Number of failed calls in a row after which the model is unhealthy. A single failed call does not count, because its
 * retry may succeed.
 */
const FAILURES_MIN = 2;
/** The model is healthy again when its last failure is older than this. */
const RELEVANT_MS = 10 * 60_000;
/** HTTP statuses for an invalid request. They do not count as failures, because they show that the server works. */
const ABOUT_THE_REQUEST = new Set([400, 413, 422]);

/**
 * Records whether the calls of a model succeed. The callers report each outcome through `outcomes`; this function makes
 * no calls.
 *
 * @param now the clock, in milliseconds.
 * @returns a copy of the model with `outcomes`, and a function that reads the health. All calls must use the copy, so
 * that their outcomes are recorded.
 */
export function observeModel(
  access: ModelAccess,
  now: () => number = Date.now,
): { model: ModelAccess; readHealth: () => ModelHealth } {
  let succeededAt: number | undefined;
  let failedAt = 0;
  let failures = 0;
  let lastFailure = "";

  function recordSuccess(): void {
    succeededAt = now();
    failures = 0;
  }
  function recordFailure(error: unknown, signal: AbortSignal | undefined): void {
    // Ignores a call that the service stopped, because it says nothing about the model. A timeout counts as a failure.
    if (signal?.aborted && (signal.reason as Error | undefined)?.name !== "TimeoutError") return;
    const failure = readModelFailure(error);
    if (failure.statusCode !== undefined && ABOUT_THE_REQUEST.has(failure.statusCode)) return;
    failedAt = now();
    failures += 1;
    lastFailure = describeFailure(failure);
  }

  const outcomes: ModelOutcomes = { recordSuccess, recordFailure };

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

/** Describes a failure without the provider's message, because the readiness report is public. */
const describeFailure = ({ statusCode }: ModelFailure): string =>
  statusCode === undefined || statusCode < 400 ? "no usable answer" : `HTTP ${statusCode}`;
