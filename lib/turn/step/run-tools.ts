import type { ToolResultPart } from "ai";
import { isQueryError } from "#db/query-error.ts";
import { storableText } from "#db/storable.ts";
import { SUBMIT_RESULT } from "#lib/agents/tools/report.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { newId } from "#lib/session/new-id.ts";
import type { NewWait } from "#lib/session/store/wait-store.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { errorResult, ServiceFailure, type Tool, type ToolResult, type Waiting } from "#lib/tools/tool.ts";
import { withDeadline } from "../../time/with-deadline.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { referToPicture } from "../prompt/show-pictures.ts";
import { aboutRun, StaleClaimError } from "../record/claim.ts";
import { beginToolCall, listBegunCalls } from "../record/turn-store.ts";
import { throwUnlessFits, timeLeftMs } from "../run/play-time.ts";
import { recordAnswered, recordStep, type StepRecord } from "../run/record-step.ts";
import {
  browserSessionOf,
  findPlace,
  findRecorded,
  isStopped,
  type RunInPlay,
  rootSessionOf,
} from "../run/run-in-play.ts";
import { isShutdown } from "../run/stop-registry.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import type { ModelStep, PlannedCall } from "./call-model.ts";
import { composeAhead } from "./compose-ahead.ts";
import { cutResult, cutStored } from "./result-text.ts";

/** How a call ended; the result itself is in the row of the call. */
type ToolStep = { callId: string; state: "succeeded" | "failed" | "unknown" };

const PREVIEW_MAX = 2_000;
const UNKNOWN = errorResult(
  "Outcome unknown: the service was interrupted during this call, and repeating it may not be safe. Check what it did before you call it again.",
);
const STOPPED = errorResult("Stopped: the turn was ended before this call was over.");

/**
 * Runs the calls of one model message: up to eight consecutive read-only calls concurrently, other calls one after the
 * other. If a
 * call has to wait before it begins, later calls are not run yet, so that the order is kept. A call that waits for an
 * answer to its own question has begun already, so later calls run.
 *
 * @returns one wait for each call that has no result yet because it is waiting, for example for a person's answer.
 * @throws OutOfTimeError before a call that may not end within the time of this executor.
 */
export async function runTools(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
  calls: PlannedCall[],
): Promise<NewWait[]> {
  const waits: NewWait[] = [];
  for (const batch of batchCalls(calls, (call) => run.prompt.tools.get(call.name)?.readOnly ?? false)) {
    const open = batch.filter((call) => findRecorded(run, stepOf(number, call)) === undefined);
    throwUnlessFits(run, Math.max(0, ...open.map((call) => longestMs(run, call))));
    const ended = await Promise.all(batch.map((call) => runTool(deps, run, number, call)));
    const waiting = ended.flatMap((each) => each ?? []);
    waits.push(...waiting.map(({ wait }) => wait));
    if (isStopped(run) || waiting.some(({ hasBegun }) => !hasBegun)) break;
    // A submitted result ends the turn, so later calls are not executed.
    if (batch.some((call) => hasSubmitted(run, number, call))) break;
  }
  return waits;
}

/** How long a call may take, in milliseconds. A call without a tool ends at once. */
function longestMs(run: RunInPlay, call: PlannedCall): number {
  const tool = run.prompt.tools.get(call.name);
  return tool ? (tool.longestMs?.(call.input) ?? tool.timeoutMs) : 0;
}

/** Maximum number of calls of one answer that run concurrently. Each call may hold an answer of several MiB. */
const CONCURRENT_MAX = 8;

/** Divides calls into batches; the calls of a batch may run concurrently. Calls with an invalid input are left out. */
export function batchCalls(
  calls: PlannedCall[],
  isReadOnly: (call: PlannedCall) => boolean,
): PlannedCall[][] {
  const batches: PlannedCall[][] = [];
  let mayJoin = false;
  for (const call of calls) {
    if (call.error !== undefined) continue;
    const last = batches.at(-1);
    if (mayJoin && isReadOnly(call) && last && last.length < CONCURRENT_MAX) last.push(call);
    else batches.push([call]);
    mayJoin = isReadOnly(call);
  }
  return batches;
}

/**
 * Runs one call and records its result. A call whose result is recorded never runs again. If a call that is not
 * idempotent was interrupted, its result says that the outcome is unknown. Source: `security.md`, What is never lost.
 *
 * @returns the wait of a call that has no result yet; otherwise undefined.
 */
async function runTool(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
  call: PlannedCall,
): Promise<{ wait: NewWait; hasBegun: boolean } | undefined> {
  if (findRecorded<ToolStep>(run, stepOf(number, call))) return undefined;
  const begun = beginCall(run, number, call);
  await faultPoint("tool-begun");
  const played = await play(deps, run, call, async () => {
    const start = await beginToolCall(deps.db, run.claim, begun.row);
    if (start === "stale") throw new StaleClaimError(run.claim);
    return start === "begun";
  });
  if (!("waiting" in played)) {
    await recordResult(deps, run, begun, played);
    return undefined;
  }
  const { on } = played.waiting;
  run.waits.set(call.callId, { since: begun.row.startedAt, subjects: on.subjects, endedBy: undefined });
  const wait = { callId: call.callId, until: "any" as const, ...on, createdAt: begun.row.startedAt };
  return { wait, hasBegun: played.hasBegun };
}

/**
 * Runs the only call of an answer. The tool only reads stored data, so the call is fast, and one statement records both
 * the answer and the result. If the call has to wait or throws, the answer is recorded alone.
 *
 * @param answer.record the step of the model's answer, which is not stored yet.
 */
export async function answerFromStore(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
  { record: answer, call }: { record: StepRecord<ModelStep>; call: PlannedCall },
): Promise<void> {
  const begun = beginCall(run, number, call);
  let played: Awaited<ReturnType<typeof play>>;
  try {
    await faultPoint("tool-begun");
    // A tool that only reads stored data is idempotent, so its start need not be recorded.
    played = await play(deps, run, call, async () => true);
  } catch (error) {
    await recordStep(deps, run, answer).catch((cause: unknown) => {
      if (cause instanceof StaleClaimError) throw cause;
      deps.logger.warn({ err: cause, runId: run.claim.runId }, "recording an answer of the model failed");
    });
    throw error;
  }
  if ("waiting" in played) await recordStep(deps, run, answer);
  else await recordResult(deps, run, begun, played, answer);
}

/** Whether a call has submitted the result of a sub-agent. The submission ends the sub-agent's turn. */
export const hasSubmitted = (run: RunInPlay, number: number, call: PlannedCall): boolean =>
  call.name === SUBMIT_RESULT && findRecorded<ToolStep>(run, stepOf(number, call))?.state === "succeeded";

const stepOf = (number: number, { callId }: PlannedCall): string => `tool-${number}-${callId}`;

/** A call that has begun, with its row and the name of the step that will record its result. */
type BegunCall = ReturnType<typeof beginCall>;

/** Composes the row of a call at its start. A call that has waited counts as started when its wait began. */
function beginCall({ waits }: RunInPlay, number: number, call: PlannedCall) {
  const { callId, name, input } = call;
  const startedAt = waits.get(callId)?.since ?? new Date();
  const row = { callId, resultId: newId("res"), name, input: input ?? null, startedAt };
  return { call, row, step: stepOf(number, call) };
}

async function recordResult(
  deps: TurnDeps,
  run: RunInPlay,
  { call, row, step }: BegunCall,
  result: ToolResult,
  answer?: StepRecord<ModelStep>,
): Promise<void> {
  const { callId, resultId, name: toolName, startedAt } = row;
  const state = result === UNKNOWN ? "unknown" : result.isError ? "failed" : "succeeded";
  // The failed call can no longer use answers to its open questions, so the questions are withdrawn. A call that only
  // reads stored data asks no questions.
  if (result.isError && !answer) await deps.elicitations.abandon({ runId: run.claim.runId, callId });

  const texts = result.content.flatMap((part) => (part.type === "text" && part.text ? [part.text] : []));
  const text = cutStored(storableText(texts.join("\n\n")));
  const evidence = result.content.flatMap((part): EvidencePointer[] =>
    part.type === "text" ? [] : [part.evidence],
  );
  const endedAt = new Date();
  // The clock may have been set back during the call.
  const durationMs = Math.max(0, endedAt.getTime() - startedAt.getTime());
  const preview = beginningOf(text, PREVIEW_MAX);
  const about = { ...aboutRun(run.claim), toolCallId: callId, toolName };
  const refused = result.refusal && { refusal: result.refusal };
  await faultPoint("tool-ended");
  const record: StepRecord<ToolStep> = {
    name: step,
    output: { callId, state },
    modelMessages: [toModelMessage(call, result, text, resultId)],
    toolCalls: [{ ...row, state, ...refused, resultText: text, endedAt }],
    events: [{ kind: "tool.result", ...about, state, ...refused, resultId, evidence, preview, durationMs }],
  };
  if (toolName !== SUBMIT_RESULT)
    composeAhead(deps, run, [...(answer?.modelMessages ?? []), ...(record.modelMessages ?? [])]);
  if (answer) await recordAnswered(deps, run, answer, record);
  else await recordStep(deps, run, record);
  await faultPoint("tool-recorded");
}

/** A call that waits, either before it began (`hasBegun` is false) or for an answer to its own question. */
type Unplayed = { waiting: Waiting; hasBegun: boolean };

/**
 * Executes a call. A call that is not idempotent is not executed if an earlier executor may already have executed it.
 * `begin` records the start of the call, and returns whether this is the first start. The call's resource, such as the
 * browser, is acquired before `begin` is called. Therefore a call that waits for its resource has not begun, and can be
 * executed after a restart.
 */
async function play(
  deps: TurnDeps,
  run: RunInPlay,
  call: PlannedCall,
  begin: () => Promise<boolean>,
): Promise<ToolResult | Unplayed> {
  deps.stops.throwIfShuttingDown();
  const tool = run.prompt.tools.get(call.name);
  if (!tool) return errorResult(`There is no tool named ${call.name} in this session.`);
  // An interrupted call is not executed again, so it does not need its resource.
  if (run.interruptedCalls.has(call.callId)) return UNKNOWN;
  const refused = await refuseUnplanned(deps, run, tool);
  if (refused) return refused;
  const acquired = await acquire(deps, run, tool, call);
  if (!acquired.ok) return acquired.result;
  try {
    // The call may have waited long for its resource, and the plan may have changed meanwhile.
    const refusedLate = tool.acquire && (await refuseUnplanned(deps, run, tool));
    if (refusedLate) return refusedLate;
    if (tool.acquire) throwUnlessFits(run, longestMs(run, call));
    // An idempotent call may simply be repeated, so its start is not recorded.
    if (!tool.idempotent && !(await begin())) return UNKNOWN;
    const result = await execute(deps, run, tool, call);
    return "status" in result ? { waiting: result, hasBegun: true } : result;
  } finally {
    acquired.release();
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
    const acquired = await withDeadline(run.signal, timeLeftMs(run), (signal) =>
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
    return await withDeadline(run.signal, limitMs, (signal) =>
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
  const stop = run.signal;
  const { promise: aborted, resolve, reject } = Promise.withResolvers<ToolResult>();
  const abort = () => {
    if (isShutdown(stop.reason)) reject(stop.reason);
    else if (stop.aborted) resolve(STOPPED);
    else resolve(errorResult(`Timed out after ${Math.round(limitMs / 100) / 10} s.`));
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) return aborted;
  const running = tool.execute(call.input, { ...aboutCall(run, call), signal });
  // A tool may reject after the race is over; without this handler the unhandled rejection would end the process.
  running.catch((error: unknown) => deps.logger.debug({ err: error, tool: tool.name }, "a tool call failed"));
  const ended = Promise.race([running, aborted]);
  try {
    await faultPoint("tool-running");
  } catch (error) {
    // The tool has begun, and must not run any longer when its result is recorded.
    await ended.catch(() => {});
    throw error;
  }
  return ended;
}

function aboutCall(run: RunInPlay, { callId }: PlannedCall) {
  const { claim, waits } = run;
  const { sessionId, requestId, runId, isPersonPresent } = claim;
  const places = {
    browserSessionId: browserSessionOf(run),
    rootSessionId: rootSessionOf(run),
  };
  const hasTool = (name: string) => run.prompt.tools.has(name);
  const wait = waits.get(callId);
  const waited = { waitEndedBy: wait?.endedBy, waitedFor: wait?.subjects };
  return { sessionId, ...places, requestId, runId, callId, isPersonPresent, hasTool, ...waited };
}

function toModelMessage(
  call: PlannedCall,
  result: ToolResult,
  text: string,
  resultId: string,
): HistoryMessage {
  const shown = cutResult(text, resultId);
  const pictures = result.content.flatMap((part) =>
    part.type === "image" ? [referToPicture(part.evidence.id, part.evidence.mediaType)] : [],
  );
  const output: ToolResultPart["output"] =
    pictures.length > 0
      ? { type: "content", value: [{ type: "text", text: shown }, ...pictures] }
      : { type: result.isError ? "error-text" : "text", value: shown };
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: call.callId, toolName: call.name, output }],
    resultId,
  };
}

/**
 * Ends the unfinished calls of a run that is stopped. If the start of a call is recorded, its result says that the
 * outcome is unknown. Otherwise, if the call waits, its result says that it was stopped. Open questions are withdrawn.
 * Source: `security.md`, What is never lost.
 *
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function settleCalls(deps: TurnDeps, run: RunInPlay): Promise<void> {
  const { runId } = run.claim;
  await deps.elicitations.abandon({ runId });
  const begun = await listBegunCalls(deps.db, runId);
  if (begun.length === 0 && run.waits.size === 0) return;
  const number = findPlace(run);
  const model = findRecorded<ModelStep>(run, `model-${number}`);
  if (model?.kind !== "answered") return;
  for (const call of model.calls) {
    if (findRecorded(run, stepOf(number, call))) continue;
    const result = begun.includes(call.callId) ? UNKNOWN : run.waits.has(call.callId) ? STOPPED : undefined;
    if (result) await recordResult(deps, run, beginCall(run, number, call), result);
  }
}
