import type { ToolResultPart } from "ai";
import type { ToolCallState } from "#db/schema/unions.ts";
import { storableText } from "#db/storable.ts";
import { SUBMIT_RESULT } from "#lib/agents/tools/report.ts";
import { PAGE_ACTIONS_MAX } from "#lib/events/page-action-schema.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { newId } from "#lib/session/new-id.ts";
import type { NewWait } from "#lib/session/store/wait-store.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { listEvidence, type ToolResult } from "#lib/tools/tool.ts";
import { needsApproval } from "#lib/tools/tool-policy.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { referToPicture } from "../prompt/show-pictures.ts";
import { aboutRun, StaleClaimError } from "../record/claim.ts";
import { beginToolCall, listBegunCalls, pauseToolCall } from "../record/turn-store.ts";
import { throwUnlessFits } from "../run/play-time.ts";
import { recordAnswered, recordStep, type StepRecord } from "../run/record-step.ts";
import { currentCallNumber, findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { composeAhead } from "./compose-ahead.ts";
import type { ModelStep, PlannedCall } from "./model-step.ts";
import { longestMs, playCall, STOPPED, UNKNOWN } from "./play-call.ts";
import { cutResult, cutStored } from "./result-text.ts";

/** How a call ended; the result itself is in the row of the call. */
type ToolStep = { callId: string; state: Exclude<ToolCallState, "started"> };

const PREVIEW_MAX = 2_000;

/**
 * Runs the calls of one model message: up to eight consecutive read-only calls concurrently, other calls, and those that
 * need approval, one after the other. If a call has to wait before it begins, later calls are not run yet, so that the order is kept. A call that waits for an
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
  const mayRunWithOthers = ({ name }: PlannedCall): boolean => {
    const tool = run.prompt.tools.get(name);
    // Calls that need approval are asked one after the other, because a decision may change what comes after it.
    return tool?.readOnly === true && !needsApproval(run.session.tools.approve, tool);
  };
  for (const batch of batchCalls(calls, mayRunWithOthers)) {
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

/** Maximum number of calls of one answer that run concurrently. Each call may hold an answer of several MiB. */
const CONCURRENT_MAX = 8;

/** Divides calls into batches; the calls of a batch may run concurrently. Calls with an invalid input are left out. */
export function batchCalls(
  calls: PlannedCall[],
  mayRunWithOthers: (call: PlannedCall) => boolean,
): PlannedCall[][] {
  const batches: PlannedCall[][] = [];
  let mayJoin = false;
  for (const call of calls) {
    if (call.error !== undefined) continue;
    const last = batches.at(-1);
    if (mayJoin && mayRunWithOthers(call) && last && last.length < CONCURRENT_MAX) last.push(call);
    else batches.push([call]);
    mayJoin = mayRunWithOthers(call);
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
  const played = await playCall(deps, run, call, async () => {
    const start = await beginToolCall(deps.db, run.claim, begun.row);
    if (start === "stale") throw new StaleClaimError(run.claim);
    return start === "begun";
  });
  if (!("waiting" in played)) {
    await recordResult(deps, run, begun, played);
    return undefined;
  }
  // The part of the call that has begun is over, so the part that follows the wait begins again.
  if (played.hasBegun && run.prompt.tools.get(call.name)?.idempotent === false)
    await pauseToolCall(deps.db, run.claim, call.callId);
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
  let played: Awaited<ReturnType<typeof playCall>>;
  try {
    await faultPoint("tool-begun");
    // A tool that only reads stored data is idempotent, so its start need not be recorded.
    played = await playCall(deps, run, call, async () => true);
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
  const state = stateOf(result);
  // The failed call can no longer use answers to its open questions, so the questions are withdrawn. A call that only
  // reads stored data asks no questions.
  if (result.isError && !answer) await deps.elicitations.abandon({ runId: run.claim.runId, callId });

  const texts = result.content.flatMap((part) => (part.type === "text" && part.text ? [part.text] : []));
  const text = cutStored(storableText(texts.join("\n\n")));
  const evidence = listEvidence(result.content);
  const endedAt = new Date();
  // The clock may have been set back during the call.
  const durationMs = Math.max(0, endedAt.getTime() - startedAt.getTime());
  const preview = beginningOf(text, PREVIEW_MAX);
  const about = { ...aboutRun(run.claim), toolCallId: callId, toolName };
  const refused = result.refusal && { refusal: result.refusal };
  const { actions = [] } = result;
  const isInterrupted = result.interruptedBy !== undefined;
  const shown = {
    ...refused,
    ...(isInterrupted && { interruptedBy: result.interruptedBy }),
    ...(actions.length > 0 && { actions: actions.slice(0, PAGE_ACTIONS_MAX) }),
    // A call of a stopped turn that did not succeed was interrupted, and did not fail on its own.
    ...(state !== "succeeded" && !refused && !isInterrupted && isStopped(run) && { stopped: true }),
  };
  await faultPoint("tool-ended");
  const record: StepRecord<ToolStep> = {
    name: step,
    output: { callId, state },
    modelMessages: [toModelMessage(call, result, text, resultId)],
    toolCalls: [{ ...row, state, ...refused, resultText: text, endedAt }],
    events: [{ kind: "tool.result", ...about, state, ...shown, resultId, evidence, preview, durationMs }],
  };
  if (toolName !== SUBMIT_RESULT)
    composeAhead(deps, run, [...(answer?.modelMessages ?? []), ...(record.modelMessages ?? [])]);
  if (answer) await recordAnswered(deps, run, answer, record);
  else await recordStep(deps, run, record);
  await faultPoint("tool-recorded");
}

function stateOf(result: ToolResult): ToolStep["state"] {
  if (result === UNKNOWN) return "unknown";
  if (result.interruptedBy !== undefined) return "interrupted";
  return result.isError ? "failed" : "succeeded";
}

function toModelMessage(
  call: PlannedCall,
  result: ToolResult,
  text: string,
  resultId: string,
): HistoryMessage {
  const shown = cutResult(text, resultId);
  const pictures = result.content.flatMap((part) =>
    part.type === "image" ? [referToPicture(part.evidence.id, part.evidence.mediaType, part.part)] : [],
  );
  const output: ToolResultPart["output"] =
    pictures.length > 0
      ? { type: "content", value: [{ type: "text", text: shown }, ...pictures] }
      : { type: result.isError ? "error-text" : "text", value: shown };
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: call.callId, toolName: call.via ?? call.name, output }],
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
export async function endUnfinishedCalls(deps: TurnDeps, run: RunInPlay): Promise<void> {
  const { runId } = run.claim;
  await deps.elicitations.abandon({ runId });
  const begun = await listBegunCalls(deps.db, runId);
  if (begun.length === 0 && run.waits.size === 0) return;
  const number = currentCallNumber(run);
  const model = findRecorded<ModelStep>(run, `model-${number}`);
  if (model?.kind !== "answered") return;
  for (const call of model.calls) {
    if (findRecorded(run, stepOf(number, call))) continue;
    const result = begun.includes(call.callId) ? UNKNOWN : run.waits.has(call.callId) ? STOPPED : undefined;
    if (result) await recordResult(deps, run, beginCall(run, number, call), result);
  }
}
