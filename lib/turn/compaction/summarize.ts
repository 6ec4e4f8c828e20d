import type { ModelMessage } from "ai";
import type { AnswerEnd } from "#lib/model/calls/answer-end.ts";
import { type CalledModel, streamModel } from "#lib/model/calls/stream-model.ts";
import { type ModelFailure, readModelFailure } from "#lib/model/failure.ts";
import { addUsage, type ModelUsage, readUsage } from "#lib/model/usage.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { cutToTokens } from "../history/estimate-tokens.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { composeSummaryPrompt } from "./summary-prompt.ts";
import { writeTranscript } from "./write-transcript.ts";

/** The outcome of a summary. `usage` is the sum of all its model calls. */
type SummaryAnswer =
  | { kind: "summarized"; text: string; usage: ModelUsage }
  | { kind: "failed"; failure: ModelFailure; usage: ModelUsage }
  | { kind: "stopped" };

/** What to summarize: the fields of a `SummaryPlan` (`summary-plan.ts`) that the model call needs. */
export type SummaryInput = {
  messages: readonly HistoryMessage[];
  task: readonly HistoryMessage[];
  previousSummary?: string;
  summaryTokens: number;
};

type CallResult = { text: string; usage: ModelUsage } | Exclude<SummaryAnswer, { kind: "summarized" }>;

const CALL_TIMEOUT_MS = 600_000;
/**
 * Shares of the budget for the transcript and the task. The rest stays free, because a provider may count twice as many
 * tokens as estimated.
 */
const TRANSCRIPT_SHARE = 0.4;
const TASK_SHARE = 0.1;
const WORDS_PER_TOKEN = 0.6;
/** The summary of a conversation that has no text to summarize. */
const NOTHING = "Nothing of note happened.";
const NO_USAGE: ModelUsage = readUsage(undefined);

/**
 * Lets the model summarize a part of the conversation, without tools. Only an empty answer is tried once more. Long texts are cut first. A
 * part that still takes more than `TRANSCRIPT_SHARE` of `budgetTokens` is summarized chunk by chunk: each call updates
 * the summary so far. A refusal, an empty answer, an answer cut off at the output limit and a provider's failure are
 * returned as values, with the usage of the calls. Never throws.
 */
export async function summarize(
  model: CalledModel,
  input: SummaryInput,
  limits: { budgetTokens: number; signal: AbortSignal },
): Promise<SummaryAnswer> {
  const { budgetTokens, signal } = limits;
  const task = writeTranscript(input.task, budgetTokens * TASK_SHARE)[0] ?? "";
  let summary = input.previousSummary;
  let usage = NO_USAGE;
  const summaryTokens = Math.min(input.summaryTokens, model.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  for (const chunk of writeTranscript(input.messages, budgetTokens * TRANSCRIPT_SHARE)) {
    const words = Math.max(60, Math.round(summaryTokens * WORDS_PER_TOKEN));
    const prompt = composeSummaryPrompt({ chunk, task, previousSummary: summary, words });
    const answer = await callModel(model, prompt, signal);
    if ("kind" in answer)
      return answer.kind === "failed" ? { ...answer, usage: addUsage(usage, answer.usage) } : answer;
    usage = addUsage(usage, answer.usage);
    summary = cutToTokens(answer.text, input.summaryTokens);
  }
  return { kind: "summarized", text: summary ?? NOTHING, usage };
}

async function callModel(
  access: CalledModel,
  prompt: { instructions: string; messages: ModelMessage[] },
  signal: AbortSignal,
): Promise<CallResult> {
  if (signal.aborted) return { kind: "stopped" };
  return createDeadline({ ms: CALL_TIMEOUT_MS, signal }).run((limited) =>
    callWithin(access, prompt, signal, limited),
  );
}

async function callWithin(
  access: CalledModel,
  prompt: { instructions: string; messages: ModelMessage[] },
  signal: AbortSignal,
  limited: AbortSignal,
): Promise<CallResult> {
  let usage = NO_USAGE;
  try {
    for (let isRepeated = false; ; isRepeated = true) {
      const answer = await streamModel(access, prompt, limited, () => {});
      usage = addUsage(usage, answer.usage);
      if (answer.end === "empty" && !isRepeated) continue;
      const failure = readEnding(answer.end);
      return failure ? { kind: "failed", failure, usage } : { text: answer.text.trim(), usage };
    }
  } catch (error) {
    if (signal.aborted) return { kind: "stopped" };
    return { kind: "failed", failure: readModelFailure(error), usage };
  }
}

/** Returns the failure of a call that ended without a complete summary; undefined if the summary is complete. */
function readEnding(end: AnswerEnd): ModelFailure | undefined {
  if (end === "filtered")
    return { message: "The model refused to summarize the earlier conversation.", isRetryable: false };
  if (end === "cut_off")
    return {
      message: "The summary of the earlier conversation was cut off at the model's output limit.",
      isRetryable: true,
    };
  if (end === "failed" || end === "unknown")
    return { message: "The model provider broke off its answer.", isRetryable: true };
  if (end === "empty")
    return { message: "The model's summary of the earlier conversation was empty twice.", isRetryable: true };
  return undefined;
}
