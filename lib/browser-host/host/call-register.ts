import type { LinkEndedError } from "#lib/host-link/link-message.ts";
import { errorResult, type ToolResult } from "#lib/tools/tool.ts";
import type { SentCall } from "../host-calls.ts";

/** A call whose link has ended goes on, because another process may continue the run. Only its run's calls can. */
type Owner = Pick<SentCall, "sessionId" | "runId" | "callId" | "epoch">;

/**
 * The calls on live pages at this host. The signal of a call fires when its caller cancels it, or when its link ends. A
 * call of a run is refused if the run has made a call with a higher epoch; a higher epoch ends the calls of lower ones.
 */
export type CallRegister = {
  /**
   * Runs a call that must not run twice. If the link of a run's call ends, the call continues. Its result is kept, and
   * the same call of a later epoch gets that result.
   * @throws Error if the call is refused; the error of the work.
   */
  runOnce: (
    call: Owner,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<ToolResult>,
  ) => Promise<ToolResult>;
  /** Runs a call that can be repeated. It ends with its link. @throws Error if the call is refused; the error of the work. */
  run: <Result>(
    call: Owner,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ) => Promise<Result>;
  /** Returns the result of an earlier attempt of a call; ends it if it still runs. Null if it is not known. */
  recover: (call: Owner) => Promise<ToolResult | null>;
  /** Resolves when no call of this session runs. */
  untilEnded: (sessionId: string) => Promise<void>;
  /** Ends all calls. */
  endAll: (reason: Error) => void;
};

/** A call that runs. `endedFor`: why this host has ended it, if it has. */
type Running = { call: Owner; controller: AbortController; ended: Promise<unknown>; endedFor?: Error };
/** A call that must not run twice. `keptAtMs` is set when it has ended. */
type Attempt = { running: Running; result: Promise<ToolResult>; keptAtMs?: number; bytes: number };

/** How long a result is kept for a turn that is resumed, and how many results and bytes are kept. */
const KEPT_MS = 10 * 60_000;
const KEPT_BYTES = 64 * 2 ** 20;
const KEPT_MAX = 1_000;
/** How many runs' epochs are kept; those that made a call longest ago are forgotten first. */
const RUNS_MAX = 1_000;

type Register = {
  running: Set<Running>;
  attempts: Map<string, Attempt>;
  /** The highest epoch of each run that has made a call. */
  epochs: Map<string, number>;
  nowMs: () => number;
};

const keyOf = ({ runId, callId }: Owner) => `${runId} ${callId}`;

/** @see CallRegister */
export function createCallRegister(nowMs: () => number = () => performance.now()): CallRegister {
  const register: Register = { running: new Set(), attempts: new Map(), epochs: new Map(), nowMs };
  return {
    async run(call, signal, work) {
      enter(register, call);
      return untilStopped(begin(register, call, work), signal, () => true);
    },
    async runOnce(call, signal, work) {
      enter(register, call);
      if (call.runId === null || call.callId === null || call.epoch === null)
        return untilStopped(begin(register, call, work), signal, () => true);
      const attempt = register.attempts.get(keyOf(call)) ?? beginOnce(register, call, work);
      const { result, running } = attempt;
      const isStop = ({ name }: Error) => name !== ("LinkEndedError" satisfies LinkEndedError["name"]);
      return untilStopped({ running, result }, signal, isStop);
    },
    async recover(call) {
      enter(register, call);
      const attempt = register.attempts.get(keyOf(call));
      if (attempt) end(attempt.running, CONTINUED);
      return (await attempt?.result.catch(() => null)) ?? null;
    },
    async untilEnded(sessionId) {
      const open = [...register.running].filter(({ call }) => call.sessionId === sessionId);
      await Promise.allSettled(open.map(({ ended }) => ended));
    },
    endAll(reason) {
      for (const running of register.running) end(running, reason);
    },
  };
}

const CONTINUED = new Error("the turn was continued by another process");

function end(running: Running, reason: Error): void {
  running.endedFor ??= reason;
  running.controller.abort(reason);
}

/** Ends the calls of the run's earlier epochs. @throws Error if the call's epoch is an earlier one. */
function enter({ epochs, running }: Register, { runId, epoch }: Owner): void {
  if (runId === null || epoch === null) return;
  const highest = epochs.get(runId) ?? Number.NEGATIVE_INFINITY;
  if (epoch < highest) throw new Error("another process plays this run now");
  epochs.delete(runId);
  epochs.set(runId, epoch);
  const [oldest] = epochs.keys();
  if (epochs.size > RUNS_MAX && oldest !== undefined) epochs.delete(oldest);
  for (const each of running)
    if (each.call.runId === runId && (each.call.epoch ?? epoch) < epoch) end(each, CONTINUED);
}

function begin<Result>(
  { running: all }: Register,
  call: Owner,
  work: (signal: AbortSignal) => Promise<Result>,
): { running: Running; result: Promise<Result> } {
  const controller = new AbortController();
  const result = work(controller.signal);
  const running: Running = { call, controller, ended: result };
  all.add(running);
  const forget = () => all.delete(running);
  result.then(forget, forget);
  return { running, result };
}

function beginOnce(
  register: Register,
  call: Owner,
  work: (signal: AbortSignal) => Promise<ToolResult>,
): Attempt {
  const { attempts, nowMs } = register;
  const { running, result: played } = begin(register, call, work);
  // A call that this host has ended is not repeated: its result says that it was ended.
  const result = played.catch((error: unknown) => {
    if (running.endedFor) return errorResult(`The call was stopped: ${running.endedFor.message}`);
    throw error;
  });
  const attempt: Attempt = { running, result, bytes: 0 };
  attempts.set(keyOf(call), attempt);
  attempt.result.then(
    (result) => {
      attempt.keptAtMs = nowMs();
      attempt.bytes = sizeOf(result);
      forgetOld(register);
    },
    // A call that failed may be repeated.
    () => attempts.delete(keyOf(call)),
  );
  return attempt;
}

/** Waits for a call. Ends it when its caller's signal fires, if `isStop` says so of the signal's reason. */
async function untilStopped<Result>(
  { running, result }: { running: Running; result: Promise<Result> },
  signal: AbortSignal,
  isStop: (reason: Error) => boolean,
): Promise<Result> {
  // The cast is safe: a link aborts its calls with errors.
  const stop = () => isStop(signal.reason as Error) && running.controller.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await result;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Forgets results that are too old. If there are too many, forgets the oldest. */
function forgetOld({ attempts, nowMs }: Register): void {
  let bytes = 0;
  let count = 0;
  for (const [key, attempt] of [...attempts].reverse()) {
    if (attempt.keptAtMs === undefined) continue;
    bytes += attempt.bytes;
    count += 1;
    if (nowMs() - attempt.keptAtMs > KEPT_MS || bytes > KEPT_BYTES || count > KEPT_MAX) attempts.delete(key);
  }
}

/** Bytes that a result needs in memory, about: a character may need two. */
const sizeOf = ({ content, ...rest }: ToolResult): number =>
  content.reduce(
    (bytes, part) => bytes + (part.type === "image" ? part.data.byteLength : 2 * JSON.stringify(part).length),
    0,
  ) +
  2 * JSON.stringify(rest).length;
