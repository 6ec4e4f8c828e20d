import { isQueryError } from "#db/query-error.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { beginApproved } from "#lib/session/store/approval-store.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { errorResult, ServiceFailure, type Tool, type ToolResult, type Waiting } from "#lib/tools/tool.ts";
import { throwUnlessFits, timeLeftMs } from "../run/play-time.ts";
import { browserSessionOf, type RunInPlay, rootSessionOf } from "../run/run-in-play.ts";
import { isShutdown } from "../run/stop-registry.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { approveCall } from "./approve-call.ts";
import type { PlannedCall } from "./model-step.ts";

/** The result of a call that an interrupted executor may have executed. */
export const UNKNOWN = errorResult(
  "Outcome unknown: the service was interrupted during this call, and repeating it may not be safe. Check what it did before you call it again.",
);
/** The result of a call that was stopped. */
export const STOPPED = errorResult("Stopped: the turn was ended before this call was over.");

/** A call that waits, either before it began (`hasBegun` is false) or for an answer to its own question. */
type Unplayed = { waiting: Waiting; hasBegun: boolean };

/**
 * Executes a call. A call that is not idempotent is not executed if an earlier executor may already have executed it.
 * `begin` records the start of the call, and returns whether this is the first start. The call's resource, such as the
 * browser, is acquired before `begin` is called. Therefore a call that waits for its resource has not begun, and can be
 * executed after a restart.
 */
export async function playCall(
  deps: TurnDeps,
  run: RunInPlay,
  call: PlannedCall,
  begin: () => Promise<boolean>,
): Promise<ToolResult | Unplayed> {
  deps.stops.throwIfShuttingDown();
  const tool = run.prompt.tools.get(call.name);
  if (!tool) return errorResult(`There is no tool named ${call.name} in this session.`);
  // An interrupted call is not executed again, so it does not need its resource.
  if (run.interruptedCalls.has(call.callId)) return (await recover(deps, run, tool, call)) ?? UNKNOWN;
  const refused = await refuseUnplanned(deps, run, tool);
  if (refused) return refused;
  const approval = await approveCall(deps, run, tool, call);
  if (approval.kind === "refused") return approval.result;
  if (approval.kind === "waiting") return { waiting: approval.waiting, hasBegun: false };
  // An approved call that has begun is not executed again, except that a tool continues after a wait of its own.
  if (approval.kind === "approved" && approval.hasBegun && !run.waits.has(call.callId)) return UNKNOWN;
  const acquired = await acquire(deps, run, tool, call);
  if (!acquired.ok) return acquired.result;
  try {
    // The call may have waited long for its resource, and the plan may have changed meanwhile.
    const refusedLate = tool.acquire && (await refuseUnplanned(deps, run, tool));
    if (refusedLate) return refusedLate;
    if (tool.acquire) throwUnlessFits(run, longestMs(run, call));
    // An idempotent call may simply be repeated, so its start is not recorded.
    if (!tool.idempotent && !(await begin())) return UNKNOWN;
    if (approval.kind !== "approved") return toPlayed(await execute(deps, run, tool, call));
    if (!approval.hasBegun && !(await beginApproved(deps.db, approval.itemId))) return UNKNOWN;
    return toPlayed(await execute(deps, run, tool, { ...call, input: approval.input }));
  } finally {
    acquired.release();
  }
}

const toPlayed = (result: ToolResult | Waiting): ToolResult | Unplayed =>
  "status" in result ? { waiting: result, hasBegun: true } : result;

/** Returns the result of an interrupted call, if what carried it out has outlived the earlier executor. */
async function recover(
  deps: TurnDeps,
  run: RunInPlay,
  tool: Tool,
  call: PlannedCall,
): Promise<ToolResult | undefined> {
  try {
    return await tool.recover?.({ ...aboutCall(run, call), signal: run.signal });
  } catch (error) {
    deps.logger.debug({ err: error, tool: tool.name }, "the result of an interrupted call was not recovered");
    return undefined;
  }
}

/**
 * Refuses a call that changes something before a person has agreed to the plan. @returns undefined if the call may run.
 */
async function refuseUnplanned(deps: TurnDeps, run: RunInPlay, tool: Tool): Promise<ToolResult | undefined> {
  const refusal = await deps.planGate(tool, rootSessionOf(run));
  return refusal === undefined ? undefined : { ...errorResult(refusal), refusal: "plan_first" };
}

type Acquired = { ok: true; release: () => void } | { ok: false; result: ToolResult | Unplayed };

/**
 * Acquires the resource of a call, if its tool needs one. @throws ShutdownError when the process ends during the wait.
 */
async function acquire(deps: TurnDeps, run: RunInPlay, tool: Tool, call: PlannedCall): Promise<Acquired> {
  if (!tool.acquire) return { ok: true, release() {} };
  try {
    const { acquire } = tool;
    const acquired = await createDeadline({ ms: timeLeftMs(run), signal: run.signal }).run((signal) =>
      acquire({ ...aboutCall(run, call), signal }),
    );
    return typeof acquired === "function"
      ? { ok: true, release: acquired }
      : { ok: false, result: { waiting: acquired, hasBegun: false } };
  } catch (error) {
    if (isShutdown(run.signal.reason)) throw run.signal.reason;
    // The call has had no effect. The next executor has more time to wait for the resource.
    throwUnlessFits(run, 1);
    deps.logger.debug({ err: error, tool: tool.name }, "a tool call did not acquire its resource");
    return { ok: false, result: run.signal.aborted ? STOPPED : errorResult(describeFailure(error)) };
  }
}

/**
 * Runs a tool under its deadline and the run's stop signal. An error that the tool throws becomes its result for the
 * model.
 *
 * @throws ShutdownError when the process ends before the call does.
 * @throws ServiceFailure when the service itself failed; the engine then repeats its step.
 */
async function execute(
  deps: TurnDeps,
  run: RunInPlay,
  tool: Tool,
  call: PlannedCall,
): Promise<ToolResult | Waiting> {
  try {
    // A call that would take longer than the whole time of an executor is ended before the platform ends the executor.
    const limitMs = Math.min(tool.timeoutMs, timeLeftMs(run));
    return await createDeadline({ ms: limitMs, signal: run.signal }).run((signal) =>
      executeWithin(deps, run, tool, call, { signal, limitMs }),
    );
  } catch (error) {
    if (isShutdown(error) || error instanceof ServiceFailure) throw error;
    if (isQueryError(error)) deps.logger.error({ err: error, tool: tool.name }, "a tool call failed");
    return errorResult(describeFailure(error));
  }
}

async function executeWithin(
  deps: TurnDeps,
  run: RunInPlay,
  tool: Tool,
  call: PlannedCall,
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<ToolResult | Waiting> {
  const start = () => {
    const running = tool.execute(call.input, { ...aboutCall(run, call), signal });
    // A tool may also fail after the deadline.
    running.catch((error: unknown) =>
      deps.logger.debug({ err: error, tool: tool.name }, "a tool call failed"),
    );
    return running;
  };
  const ended = createDeadline({ signal }).race(start, () => describeEnd(run.signal, limitMs));
  try {
    await faultPoint("tool-running");
  } catch (error) {
    // The tool has begun, and must not run any longer when its result is recorded.
    await ended.catch(() => {});
    throw error;
  }
  return ended;
}

/** Returns the result of a call that was stopped or took too long. @throws ShutdownError when the process ends. */
function describeEnd(stop: AbortSignal, limitMs: number): ToolResult {
  if (isShutdown(stop.reason)) throw stop.reason;
  return stop.aborted ? STOPPED : errorResult(`Timed out after ${Math.round(limitMs / 100) / 10} s.`);
}

/** How long a call may take, in milliseconds. A call without a tool ends at once. */
export function longestMs(run: RunInPlay, call: PlannedCall): number {
  const tool = run.prompt.tools.get(call.name);
  return tool ? (tool.longestMs?.(call.input) ?? tool.timeoutMs) : 0;
}

function aboutCall(run: RunInPlay, { callId }: PlannedCall) {
  const { claim, waits } = run;
  const { sessionId, requestId, runId, epoch, mayAskPeople, interaction } = claim;
  const sessions = {
    browserSessionId: browserSessionOf(run),
    rootSessionId: rootSessionOf(run),
  };
  const hasTool = (name: string) => run.prompt.tools.has(name);
  const wait = waits.get(callId);
  const waited = { waitEndedBy: wait?.endedBy, waitedFor: wait?.subjects };
  const asking = { mayAskPeople, answerTimeoutMs: interaction?.timeoutMs };
  return { sessionId, ...sessions, requestId, runId, callId, epoch, ...asking, hasTool, ...waited };
}
