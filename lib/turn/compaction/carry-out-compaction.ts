import type { CalledModel } from "#lib/model/calls/stream-model.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import { estimateMessageTokens } from "../history/estimate-tokens.ts";
import { applyCompaction, type Compaction } from "../history/history-entry.ts";
import type { CompactionInput, CompactionPlan } from "./plan-compaction.ts";
import { summarize } from "./summarize.ts";
import { insertSummary } from "./summary-plan.ts";

/** The fields of the event `turn.compacted`. */
type CompactedFields = {
  how: Compaction["kind"];
  tokensBefore: number;
  tokensAfter: number;
  messagesReplaced: number;
};

/** The outcome of a compaction. A compaction that failed or was stopped has changed nothing. */
type CompactionOutcome =
  | { kind: "compacted"; compaction: Compaction; event: CompactedFields; usage?: ModelUsage }
  | { kind: "failed"; failure: ModelFailure; usage?: ModelUsage }
  | { kind: "stopped" };

/**
 * Carries out a planned compaction. Only a summary needs a model call. Writes nothing: the caller records `compaction`
 * as a step, in one transaction with the event. A crash before that transaction leaves the history unchanged. Never
 * throws.
 */
export async function carryOutCompaction(
  model: CalledModel,
  input: CompactionInput,
  plan: Extract<CompactionPlan, { kind: "offload" | "summarize" }>,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { tokensBefore, messagesReplaced } = plan;
  if (plan.kind === "offload") {
    const { compaction, tokensAfter } = plan;
    const event = { how: compaction.kind, tokensBefore, tokensAfter, messagesReplaced };
    return { kind: "compacted", compaction, event };
  }
  const answer = await summarize(model, plan.summary, { budgetTokens: input.budgetTokens, signal });
  if (answer.kind !== "summarized") return answer;
  const compaction = insertSummary(plan.summary, answer.text);
  const tokensAfter = measureAfter(input, compaction);
  const event = { how: compaction.kind, tokensBefore, tokensAfter, messagesReplaced };
  return { kind: "compacted", compaction, event, usage: answer.usage };
}

/**
 * Returns the size of the compacted prompt in tokens. The estimate is multiplied by the ratio of `usedTokens` to the
 * estimate of the prompt before the compaction.
 */
function measureAfter(input: CompactionInput, compaction: Compaction): number {
  const { entries, overheadTokens, picturesShown, usedTokens } = input;
  const estimate = (some: CompactionInput["entries"]) =>
    overheadTokens +
    estimateMessageTokens(
      some.flatMap(({ messages }) => messages),
      picturesShown,
    );
  return Math.ceil((estimate(applyCompaction(entries, compaction)) * usedTokens) / estimate(entries));
}
