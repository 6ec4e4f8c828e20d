import type { ToolResult } from "#lib/tools/tool.ts";
import type { SentCall } from "../host-calls.ts";

/** The calls of runs at this host: those that run, and the results of those that have ended. */
export type CallRegister = {
  /**
   * Runs the work of a call. Ends the calls of earlier epochs of the run first. If the same call was made before, returns
   * its result instead: a resumed turn repeats its calls.
   * @param work gets a signal that fires when the call is ended.
   * @throws Error if a call of the run with a higher epoch was made.
   */
  run: (call: SentCall, work: (signal: AbortSignal) => Promise<ToolResult>) => Promise<ToolResult>;
  /** Returns the result of an earlier attempt of a call; ends it if it still runs. Null if it is not known. */
  recover: (call: SentCall) => Promise<ToolResult | null>;
  /** Ends this attempt of a call. */
  end: (call: SentCall, reason: Error) => void;
  /** Ends all calls, also those outside of turns. */
  endAll: (reason: Error) => void;
};

type Attempt = {
  epoch: number;
  controller: AbortController;
  result: Promise<ToolResult>;
  endedAtMs: number | undefined;
  bytes: number;
};

/** How long a result is kept for a turn that is resumed, and how many bytes of results are kept. */
const KEPT_MS = 10 * 60_000;
const KEPT_BYTES = 64 * 2 ** 20;
const RUNS_MAX = 1_000;

/** @see CallRegister */
export function createCallRegister(nowMs: () => number = () => performance.now()): CallRegister {
  const attempts = new Map<string, Attempt>();
  /** The highest epoch of each run that has made a call. */
  const epochs = new Map<string, number>();
  const outside = new Set<AbortController>();
  const keyOf = ({ runId, callId }: SentCall) => `${runId} ${callId}`;

  /** Ends the calls of the run's earlier epochs. @throws Error if the call's epoch is an earlier one. */
  function enter({ runId, epoch }: { runId: string; epoch: number }): void {
    const highest = epochs.get(runId) ?? Number.NEGATIVE_INFINITY;
    if (epoch < highest) throw new Error("another process plays this run now");
    epochs.delete(runId);
    epochs.set(runId, epoch);
    const [oldest] = epochs.keys();
    if (epochs.size > RUNS_MAX && oldest !== undefined) epochs.delete(oldest);
    if (epoch === highest) return;
    const ended = new Error("the turn was continued by another process");
    for (const [key, attempt] of attempts)
      if (key.startsWith(`${runId} `) && attempt.epoch < epoch) attempt.controller.abort(ended);
  }

  function forgetOld(): void {
    let bytes = 0;
    for (const [key, attempt] of [...attempts].reverse()) {
      if (attempt.endedAtMs === undefined) continue;
      bytes += attempt.bytes;
      if (nowMs() - attempt.endedAtMs > KEPT_MS || bytes > KEPT_BYTES) attempts.delete(key);
    }
  }

  async function runOutside(work: (signal: AbortSignal) => Promise<ToolResult>, controller: AbortController) {
    outside.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      outside.delete(controller);
    }
  }

  const controllers = new Map<SentCall, AbortController>();
  return {
    async run(call, work) {
      const { runId, callId, epoch } = call;
      const controller = new AbortController();
      controllers.set(call, controller);
      try {
        if (runId === null || callId === null || epoch === null) return await runOutside(work, controller);
        enter({ runId, epoch });
        const earlier = attempts.get(keyOf(call));
        if (earlier) return await earlier.result;
        const attempt: Attempt = {
          epoch,
          controller,
          result: work(controller.signal),
          endedAtMs: undefined,
          bytes: 0,
        };
        attempts.set(keyOf(call), attempt);
        const result = await attempt.result.catch((error: unknown) => {
          // A call that failed may be repeated.
          attempts.delete(keyOf(call));
          throw error;
        });
        attempt.endedAtMs = nowMs();
        attempt.bytes = sizeOf(result);
        forgetOld();
        return result;
      } finally {
        controllers.delete(call);
      }
    },
    async recover(call) {
      const { runId, epoch } = call;
      if (runId === null || epoch === null) return null;
      enter({ runId, epoch });
      const earlier = attempts.get(keyOf(call));
      return earlier ? earlier.result.catch(() => null) : null;
    },
    end: (call, reason) => controllers.get(call)?.abort(reason),
    endAll(reason) {
      for (const controller of outside) controller.abort(reason);
      for (const { controller, endedAtMs } of attempts.values())
        if (endedAtMs === undefined) controller.abort(reason);
    },
  };
}

const sizeOf = ({ content }: ToolResult): number =>
  content.reduce(
    (bytes, part) =>
      bytes + (part.type === "text" ? part.text.length : part.type === "image" ? part.data.byteLength : 0),
    0,
  );
