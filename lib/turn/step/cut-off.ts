import type { ModelMessage } from "ai";
import type { HistoryMessage } from "../compaction/history-entry.ts";
import { ADDED } from "../prompt/look-first.ts";
import { findRecorded, type RunInPlay } from "../run/run-in-play.ts";
import type { ModelStep, PlannedCall } from "./call-model.ts";

/** Number of answers in a row that may be cut off at the output limit. The turn then ends. Source: decision 064. */
const CUT_OFF_MAX = 3;

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
  return [...kept, { role: "user", content: `${ADDED} ${NOTICE}`, isAdded: true }];
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
 * Returns why a turn ends after the model call `number`, if the last {@link CUT_OFF_MAX} answers were cut off.
 * Otherwise undefined.
 */
export function endCutOff(run: RunInPlay, number: number): string | undefined {
  for (let count = 0; count < CUT_OFF_MAX; count++) {
    const step = findRecorded<ModelStep>(run, `model-${number - count}`);
    if (step?.kind !== "answered" || !step.isCutOff) return undefined;
  }
  return `The model's answers were cut off at its output limit ${CUT_OFF_MAX} times in a row.`;
}
