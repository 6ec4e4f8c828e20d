import { storable } from "#db/storable.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { MODEL_TIMED_OUT, type ModelFailure } from "#lib/model/failure.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { estimateOverhead } from "../history/prompt-meter.ts";
import { addedMessage } from "../prompt/added-message.ts";
import { picturesShown } from "../prompt/show-pictures.ts";
import { aboutRun } from "../record/claim.ts";
import { callWithinPlay } from "../run/play-time.ts";
import { recordStep } from "../run/record-step.ts";
import { findRecorded, meteredPrompt, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { carryOutCompaction } from "./carry-out-compaction.ts";
import { type CompactionInput, isNearBudget, planCompaction } from "./plan-compaction.ts";

/**
 * Whether the prompt has room for a model call: without a compaction (`ready`), or after one (`compacted`). There is no
 * room if the run was stopped (`stopped`) or the compaction failed (`failed`); the history is then unchanged.
 */
type Room = { kind: "ready" | "compacted" | "stopped" } | { kind: "failed"; failure: ModelFailure };

const READY: Room = { kind: "ready" };

/**
 * Compacts the context before a model call if the context is near its budget. The compaction is recorded as a separate
 * step; until then, the history is unchanged. Source: decision 014.
 *
 * @param call identifies the model call in the names of the compaction's steps: `model-<number>`, or
 * `collect-<number>` for the call that collects a deliverable.
 * @param isRefused whether the provider has just refused the prompt as too large. The prompt then counts as at least as
 * large as the budget, whatever the estimate is.
 */
export async function compactContext(
  deps: TurnDeps,
  run: RunInPlay,
  call: string,
  isRefused = false,
): Promise<Room> {
  const budgetTokens = deps.model.contextTokens;
  const place = `${call}.${countCompactions(run, call) + 1}`;
  const failed = findRecorded<{ failure: ModelFailure }>(run, `compact-failed-${place}`);
  if (failed) return { kind: "failed", failure: failed.failure };
  // An executor that resumes a compaction uses the recorded token count, so that it always finishes the compaction.
  const begun = findRecorded<{ tokens: number }>(run, `compacting-${place}`);
  const tokens = begun?.tokens ?? run.meter.count(meteredPrompt(run));
  if (!begun && !isRefused && !isNearBudget(tokens, budgetTokens)) return READY;
  const input: CompactionInput = {
    entries: run.history.entries,
    budgetTokens,
    usedTokens: isRefused ? Math.max(tokens, budgetTokens) : tokens,
    overheadTokens: estimateOverhead({ instructions: run.prompt.instructions, tools: run.prompt.modelTools }),
    requestFrom: run.requestFrom,
    picturesShown: picturesShown(deps.model),
    canReadOn: run.prompt.tools.has("read_tool_result"),
  };
  const plan = planCompaction(input);
  if (plan.kind === "impossible")
    return { kind: "failed", failure: { message: plan.message, isRetryable: false } };
  if (plan.kind === "none" && !begun) return READY;

  const about = aboutRun(run.claim);
  if (!begun)
    await recordStep(deps, run, {
      name: `compacting-${place}`,
      output: { tokens: input.usedTokens },
      isCompacting: true,
      events: [{ kind: "turn.compacting", ...about, tokens: input.usedTokens, budgetTokens }],
    });
  if (plan.kind === "none") {
    // An earlier executor began this compaction with a smaller budget. Now the prompt fits, so the step records no
    // change.
    const event = {
      how: "offloaded",
      tokensBefore: tokens,
      tokensAfter: tokens,
      messagesReplaced: 0,
    } as const;
    await recordStep(deps, run, {
      name: `compact-${place}`,
      output: {},
      isCompacting: false,
      events: [{ kind: "turn.compacted", ...about, ...event }],
    });
    return READY;
  }
  const outcome = (await callWithinPlay(run, deps.settings.playLimitMs, (signal) =>
    carryOutCompaction(deps.model, input, plan, signal),
  )) ?? { kind: "failed" as const, failure: MODEL_TIMED_OUT };
  if (outcome.kind === "stopped") deps.stops.throwIfShuttingDown();
  if (outcome.kind === "stopped") return outcome;
  const spend = deps.spending.countCall(run, outcome.usage);
  if (outcome.kind === "failed") {
    // Records the failure and the usage of the call. A resumed run does not repeat the failed call; only a retry of the
    // run does.
    const { failure, usage } = outcome;
    await recordStep(deps, run, {
      name: `compact-failed-${place}`,
      output: storable({ failure, ...(usage && { usage }) }),
      spend,
      events: [],
    });
    return { kind: "failed", failure };
  }
  await faultPoint("compaction-half-done");
  const { compaction, event, usage } = outcome;
  await recordStep(deps, run, {
    name: `compact-${place}`,
    output: usage ? { how: event.how, usage } : { how: event.how },
    spend,
    modelMessages: storable(run.claim.isStructured ? remind(compaction.messages) : compaction.messages),
    replacesThrough: compaction.replacesThrough,
    isCompacting: false,
    events: [{ kind: "turn.compacted", ...about, ...event }],
  });
  return { kind: "compacted" };
}

/**
 * Adds a message for a turn with a typed result: the call that collects the result no longer sees what was compacted, but
 * it sees the reply.
 */
const remind = (messages: readonly HistoryMessage[]): HistoryMessage[] => [
  ...messages.filter(({ content }) => content !== NAME_VALUES.content),
  { ...NAME_VALUES, position: 0 },
];

const NAME_VALUES = addedMessage(
  "Parts of this conversation were shortened. The typed result is collected from what is left and from your reply: name the value of every field in your reply in full.",
);

/**
 * Counts the compactions that were recorded before a model call. A message that joins the turn later, or a refusal by
 * the provider, can make another compaction necessary.
 */
function countCompactions({ outputs }: RunInPlay, call: string): number {
  let count = 0;
  while (outputs.has(`compact-${call}.${count + 1}`)) count++;
  return count;
}
