import type { ModelMessage } from "ai";
import type { HistoryMessage } from "../history/history-entry.ts";
import { addedMessage } from "../prompt/added-message.ts";
import { findRecorded, type RunInPlay } from "../run/run-in-play.ts";
import type { ModelStep, PlannedCall } from "./model-step.ts";

/**
 * The number of answers in a row that end a turn: three that were cut off at the output limit (decision 064), or two
 * that were empty (decision 073).
 */
const LIMITS = { cut_off: 3, empty: 2 } as const;

/** The error of a turn, or of its structured call, whose model gave an empty answer twice. */
export const EMPTY_TWICE = "The model gave an empty answer twice: no text and no tool call.";

const REASONS = {
  cut_off: `The model's answers were cut off at its output limit ${LIMITS.cut_off} times in a row.`,
  empty: EMPTY_TWICE,
};

const ADVICE =
  "Answer again within the limit: write less at a time, divide long contents over several calls or files, and make fewer calls in one answer.";

/** The result of every call of a cut-off answer, for the model and for the transcript. */
const NOT_RUN = `Not run: the answer was cut off at the model's output limit, so none of its tool calls ran, complete or not. ${ADVICE}`;

const NOTICE = `Your last answer was cut off at the model's output limit. It is kept as far as it goes; if it was to call tools, none of them ran. ${ADVICE}`;

/** Marks the calls of a cut-off answer as calls that do not run. */
export const refuseCutOff = (calls: readonly PlannedCall[]): PlannedCall[] =>
  calls.map((call) => ({ ...call, error: NOT_RUN }));

/**
 * Prepares a cut-off answer for the prompt of the next call. The calls of the answer get their results elsewhere; an
 * answer without calls is followed by a message that tells the model what has happened.
 */
export function continueCutOff(answer: readonly ModelMessage[]): HistoryMessage[] {
  const kept = answer.flatMap(dropUnfinished);
  const hasCalls = kept.some(
    ({ role, content }) =>
      role === "assistant" &&
      typeof content !== "string" &&
      content.some((part) => part.type === "tool-call"),
  );
  if (hasCalls) return kept;
  return [...kept, addedMessage(NOTICE)];
}

/**
 * Removes what follows the last text or call of an answer: reasoning that was cut off, which providers refuse because
 * it has no signature or no item after it.
 */
function dropUnfinished(message: ModelMessage): ModelMessage[] {
  if (message.role !== "assistant" || typeof message.content === "string") return [message];
  const last = message.content.findLastIndex(
    (part) => part.type === "tool-call" || (part.type === "text" && part.text !== ""),
  );
  return last < 0 ? [] : [{ ...message, content: message.content.slice(0, last + 1) }];
}

/**
 * Returns why a turn ends after the model call `number`, if this answer and those directly before it were unfinished in
 * the same way, as often as {@link LIMITS} says. Otherwise undefined.
 */
export function endUnfinished(run: RunInPlay, number: number): string | undefined {
  const how = readUnfinished(run, number);
  if (how === undefined) return undefined;
  for (let count = 1; count < LIMITS[how]; count++)
    if (readUnfinished(run, number - count) !== how) return undefined;
  return REASONS[how];
}

function readUnfinished(run: RunInPlay, number: number): keyof typeof LIMITS | undefined {
  const step = findRecorded<ModelStep>(run, `model-${number}`);
  return step?.kind === "answered" ? step.unfinished : undefined;
}
