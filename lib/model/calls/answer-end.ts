import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";

/**
 * How an answer ended. Only the calls of a `complete` answer may run.
 *
 * - `empty`: regularly, but with no text other than white space, and no tool call. Reasoning alone is no answer.
 * - `cut_off`: at the output limit.
 * - `filtered`: the provider's content filter ended it, or the model refused.
 * - `failed`: the provider reported an error, or its stream ended without a finish.
 * - `unknown`: the provider gave a reason that the service does not know.
 */
export type AnswerEnd = "complete" | "empty" | "cut_off" | "filtered" | "failed" | "unknown";

/** What the AI SDK's reasons mean. It uses `other` for every reason that it does not know. */
const SDK_REASONS: Record<LanguageModelV4FinishReason["unified"], AnswerEnd> = {
  stop: "complete",
  "tool-calls": "complete",
  length: "cut_off",
  "content-filter": "filtered",
  error: "failed",
  interrupted: "failed",
  other: "unknown",
};

/** The reasons with which compatible servers end an answer. */
const PROVIDER_REASONS: Record<Exclude<AnswerEnd, "empty" | "unknown">, string> = {
  complete:
    "stop end_turn stop_sequence eos eos_token complete completed tool_calls tool_call tool_use function_call",
  cut_off: "length max_tokens max_output_tokens max_length model_length",
  filtered: "content_filter safety refusal",
  failed: "error failed abort aborted cancelled canceled",
};

const ENDS = new Map(
  Object.entries(PROVIDER_REASONS).flatMap(([end, reasons]) =>
    reasons.split(" ").map((reason) => [reason, end as AnswerEnd] as const),
  ),
);

/**
 * Classifies the end of an answer. This is the only place that judges a finish reason.
 *
 * @param finish.raw the provider's own reason, if it gave one.
 * @param answer.isIncomplete whether the provider said that the answer is incomplete, whatever the reason is. The AI SDK
 * reports an incomplete response without a known reason as a normal end.
 * @param answer.isEmpty whether the answer has neither text nor a tool call.
 */
export function classifyEnd(
  finish: Pick<LanguageModelV4FinishReason, "unified" | "raw">,
  { isIncomplete = false, isEmpty = false }: { isIncomplete?: boolean; isEmpty?: boolean } = {},
): AnswerEnd {
  const end = readReason(finish, isIncomplete);
  return end === "complete" && isEmpty ? "empty" : end;
}

function readReason(
  { unified, raw }: Pick<LanguageModelV4FinishReason, "unified" | "raw">,
  isIncomplete: boolean,
): AnswerEnd {
  const own = raw === undefined ? undefined : ENDS.get(raw.toLowerCase());
  const end = SDK_REASONS[unified];
  if (end === "unknown") return isIncomplete && own === "complete" ? "unknown" : (own ?? "unknown");
  if (end !== "complete") return end;
  if (own !== undefined && own !== "complete") return own;
  return isIncomplete ? "unknown" : "complete";
}

/** What an event of OpenAI's API says about the end of an answer, and the AI SDK does not report. */
type RawEnd = { isIncomplete: true } | { error: unknown };

/**
 * Reads an event of the Responses or Chat Completions stream. @returns undefined if the event says nothing about the
 * end. Otherwise, an `error` next to the `choices` of a chunk, which the AI SDK ignores; or that a response, or a tool
 * call in it, is incomplete.
 */
export function readRawEnd(event: unknown): RawEnd | undefined {
  if (!isFields(event)) return undefined;
  if (event.type === "response.incomplete" || isUnfinishedCall(event)) return { isIncomplete: true };
  if (!Array.isArray(event.choices)) return undefined;
  const choice: unknown = event.choices[0];
  const error = readError(event) ?? (isFields(choice) ? readError(choice) : undefined);
  return error === undefined ? undefined : { error };
}

/** Whether an event ends a tool call that the provider itself calls incomplete. */
const isUnfinishedCall = ({ type, item }: Record<string, unknown>): boolean =>
  type === "response.output_item.done" &&
  isFields(item) &&
  item.type === "function_call" &&
  item.status === "incomplete";

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns the error in a chunk or choice; undefined for an empty one, such as `null` or `{}`. */
function readError({ error }: Record<string, unknown>): unknown {
  if (typeof error === "string") return error === "" ? undefined : error;
  return isFields(error) && Object.keys(error).length > 0 ? error : undefined;
}
