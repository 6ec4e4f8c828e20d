import type { ModelMessage } from "ai";
import type { MessagePart } from "#db/schema/index.ts";
import { storable, storableText } from "#db/storable.ts";
import type { NewEvent } from "#lib/events/event.ts";
import { type FaultPoint, faultPoint } from "#lib/faults/fault-point.ts";
import type { AnswerEnd } from "#lib/model/calls/answer-end.ts";
import type { AnswerDelta, AnsweredCall, ModelAnswer } from "#lib/model/calls/gather-answer.ts";
import { streamModel } from "#lib/model/calls/stream-model.ts";
import { isContextOverflow } from "#lib/model/context-overflow.ts";
import { MODEL_TIMED_OUT, type ModelFailure, readModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import { newId } from "#lib/session/new-id.ts";
import { createCharacterJoiner } from "#lib/text/whole-characters.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { needsApproval } from "#lib/tools/tool-policy.ts";
import { showPictures } from "../prompt/show-pictures.ts";
import type { Claim } from "../record/claim.ts";
import { aboutRun } from "../record/claim.ts";
import type { ToolCallWrite } from "../record/turn-write.ts";
import { callWithinPlay } from "../run/play-time.ts";
import { recordStep, type StepRecord } from "../run/record-step.ts";
import { findRecorded, meteredPrompt, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { consumeComposed } from "./compose-ahead.ts";
import { describeMessage } from "./describe-message.ts";
import { answerInvalidCalls, describeInvalidCall } from "./invalid-call.ts";
import type { ModelStep, PlannedCall } from "./model-step.ts";
import { ownCallIds } from "./own-call-ids.ts";
import { continueCutOff, refuseCutOff } from "./unfinished-answer.ts";

const CALL_TIMEOUT_MS = 900_000;
/** The points in a stream at which fault tests can end the process. */
const POINTS: Partial<Record<AnswerDelta["kind"], FaultPoint>> = {
  text: "model-text",
  "tool-input": "model-tool-input",
};

/**
 * Makes the model call `number` of a run. Publishes the answer while it streams, and records the finished message
 * unless the caller has to record it (`concluded`, `calling`). A failure is returned as a value.
 */
export async function callModel(deps: TurnDeps, run: RunInPlay, number: number): Promise<ModelStep> {
  const name = `model-${number}`;
  const recorded = findRecorded<ModelStep>(run, name);
  if (recorded) return recorded;

  const messageId = newId("msg");
  const prompt = meteredPrompt(run);
  const answer = await streamAnswer(deps, run, messageId);
  if (answer.kind === "stopped") deps.stops.throwIfShuttingDown();
  if (answer.kind === "failed" && isContextOverflow(answer.failure))
    return { kind: "overflowed", failure: answer.failure };
  const spend = deps.spending.countCall(run, answer.kind === "stopped" ? undefined : answer.usage);
  if (answer.kind !== "answered")
    return recordStep<ModelStep>(deps, run, { name, output: storable(answer), spend, events: [] });

  const { calls, parts, modelMessages, usage, unfinished } = answer;
  run.meter.report(prompt, usage.inputTokens);
  await faultPoint("model-ended");
  const { event, ...message } = describeMessage(run.claim, run.messageSeq, { id: messageId, parts });
  const described = calls.map((call) => describeCall(run.claim, messageId, call));
  const record: StepRecord<ModelStep> = {
    name,
    output: { kind: "answered", messageId, calls, usage, ...(unfinished && { unfinished }) },
    modelMessages,
    ...message,
    toolCalls: described.flatMap(({ ended }) => ended ?? []),
    spend,
    events: [event, ...described.flatMap(({ events }) => events)],
  };
  if (calls.length === 0 && !unfinished && !run.claim.isStructured) return { kind: "concluded", record };
  const [call] = calls;
  const tool = call && run.prompt.tools.get(call.name);
  // A call that needs approval is recorded before people are asked about it.
  const mayRunUnrecorded = tool?.readsStore && !needsApproval(run.session.tools.approve, tool);
  if (calls.length === 1 && call && call.error === undefined && mayRunUnrecorded)
    return { kind: "calling", record, call };
  const step = await recordStep(deps, run, record);
  await faultPoint("step-recorded");
  return step;
}

type Answer =
  | {
      kind: "answered";
      calls: PlannedCall[];
      parts: MessagePart[];
      modelMessages: ModelMessage[];
      usage: ModelUsage;
      unfinished?: "cut_off" | "empty";
    }
  | Exclude<ModelStep, { kind: "answered" | "concluded" | "calling" | "overflowed" }>;

/**
 * Makes one streamed model call, without retries. A retryable failure retries the whole run (`planRetry`).
 *
 * @throws OutOfTimeError if the call does not fit into the time of this executor.
 */
async function streamAnswer(deps: TurnDeps, run: RunInPlay, messageId: string): Promise<Answer> {
  const { signal } = run;
  if (signal.aborted) return { kind: "stopped" };
  const answer = await callWithinPlay(run, deps.settings.playLimitMs, (inPlay) =>
    createDeadline({ ms: CALL_TIMEOUT_MS, signal: inPlay }).run((limited) =>
      streamWithin(deps, run, messageId, limited),
    ),
  );
  return answer ?? { kind: "failed", failure: MODEL_TIMED_OUT };
}

async function streamWithin(
  deps: TurnDeps,
  run: RunInPlay,
  messageId: string,
  limited: AbortSignal,
): Promise<Answer> {
  const { claim, signal, history, prompt } = run;
  const publish = createDeltaPublisher(deps, claim, messageId);
  try {
    const messages = await showPictures(deps, claim.sessionId, history.messages);
    await faultPoint("model-called");
    const request = { instructions: prompt.instructions, messages, tools: prompt.modelTools };
    const onDelta = ({ kind, text }: AnswerDelta) => {
      if (kind !== "tool-input") publish(kind, text);
      const point = POINTS[kind];
      return point && faultPoint(point);
    };
    const answer = await streamModel(deps.model, request, limited, onDelta, consumeComposed(run, request));
    return readAnswer(answer);
  } catch (error) {
    return readBreak(signal, error);
  }
}

function readAnswer({ calls, messages, end, usage }: ModelAnswer): Answer {
  if (end !== "complete" && end !== "empty" && end !== "cut_off")
    return { kind: "failed", failure: FAILED_ENDS[end], usage };
  const planned = calls.map(toPlanned);
  const own = ownCallIds(storable(planned), storable(messages));
  const parts = toParts(own.modelMessages, own.calls);
  // Nothing of an empty answer is sent back. Providers refuse a message without content, and reasoning without the
  // answer that follows it.
  if (end === "empty")
    return { kind: "answered", calls: [], modelMessages: [], parts, usage, unfinished: end };
  if (end === "complete")
    return {
      kind: "answered",
      calls: own.calls,
      modelMessages: [...own.modelMessages, ...answerInvalidCalls(own.calls)],
      parts,
      usage,
    };
  const refused = refuseCutOff(own.calls);
  const modelMessages = [...continueCutOff(own.modelMessages), ...answerInvalidCalls(refused)];
  return { kind: "answered", calls: refused, modelMessages, parts, usage, unfinished: end };
}

/** Returns the outcome of a call that threw an error. A stopped stream may throw any error, so the signal decides. */
const readBreak = (signal: AbortSignal, error: unknown): Answer =>
  signal.aborted ? { kind: "stopped" } : { kind: "failed", failure: readModelFailure(error) };

function toPlanned({ error, ...call }: AnsweredCall): PlannedCall {
  if (!error) return call;
  const problem = describeInvalidCall(error);
  return { ...call, error: call.via ? `${problem}\nload_tools returns the inputs of tools.` : problem };
}

/** The failures of calls that ended without a usable answer. */
const FAILED_ENDS: Record<Exclude<AnswerEnd, "complete" | "empty" | "cut_off">, ModelFailure> = {
  filtered: { message: "The model provider's content filter ended the answer.", isRetryable: false },
  failed: { message: "The model provider broke off its answer.", isRetryable: true },
  unknown: {
    message: "The model provider ended its answer for a reason that this service does not know.",
    isRetryable: true,
  },
};

/**
 * Converts an answer to message parts as the transcript shows them: with the calls as they are run. A call through
 * `call_tool` is that of the tool that it names, and inputs have their defaults.
 */
function toParts(messages: ModelMessage[], calls: readonly PlannedCall[]): MessagePart[] {
  const run = new Map(calls.map((call) => [call.callId, call] as const));
  return messages.flatMap((message): MessagePart[] => {
    if (message.role !== "assistant") return [];
    if (typeof message.content === "string") return [{ type: "text", text: message.content }];
    return message.content.flatMap((part): MessagePart[] => {
      if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
      if (part.type === "reasoning") return part.text === "" ? [] : [{ type: "reasoning", text: part.text }];
      if (part.type === "tool-call") {
        const { toolCallId, toolName } = part;
        const { name, input } = run.get(toolCallId) ?? { name: toolName, input: part.input };
        // An invalid input may have another type.
        const shown = typeof input === "object" && input !== null ? input : {};
        return [{ type: "tool-call", toolCallId, toolName: name, input: shown }];
      }
      return [];
    });
  });
}

/**
 * Creates a function that publishes the pieces of a message while the message streams. A published piece has whole
 * characters only; providers split texts anywhere. Each piece has its offset in the text or in the reasoning of the
 * message, and the number of the run's attempt, so that the pieces of a retry replace the pieces of the earlier attempt.
 */
function createDeltaPublisher(deps: TurnDeps, claim: Claim, messageId: string) {
  const offsets = { text: 0, reasoning: 0 };
  const joiners = { text: createCharacterJoiner(), reasoning: createCharacterJoiner() };
  return (part: "text" | "reasoning", piece: string) => {
    const text = storableText(joiners[part](piece));
    if (text === "") return;
    deps.log.publishDelta({
      kind: "message.delta",
      timestamp: new Date().toISOString(),
      sessionId: claim.sessionId,
      ...aboutRun(claim),
      messageId,
      part,
      attempt: claim.attempt,
      offset: offsets[part],
      text,
    });
    offsets[part] += text.length;
  };
}

/**
 * Composes the events of a call. A call with an invalid input ends at once, with its error as the result. For the
 * model, `answerInvalidCalls` has already added this result.
 */
function describeCall(
  claim: Claim,
  messageId: string,
  { callId, name, input, error }: PlannedCall,
): { events: NewEvent[]; ended?: ToolCallWrite } {
  const about = { ...aboutRun(claim), toolCallId: callId, toolName: name };
  const event: NewEvent = { kind: "tool.call", ...about, messageId, input };
  if (error === undefined) return { events: [event] };
  const resultId = newId("res");
  const at = new Date();
  const ended = { startedAt: at, endedAt: at, state: "failed", resultText: error } as const;
  const result: NewEvent = {
    kind: "tool.result",
    ...about,
    resultId,
    state: "failed",
    preview: error,
    evidence: [],
    durationMs: 0,
  };
  return {
    events: [event, result],
    ended: { callId, resultId, name, input: input ?? null, ...ended },
  };
}
