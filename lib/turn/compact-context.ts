import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import { aboutRun } from "./about-run.ts";
import { carryOutCompaction } from "./compaction/carry-out-compaction.ts";
import { type CompactionInput, isNearBudget, planCompaction } from "./compaction/plan-compaction.ts";
import { weighOverhead } from "./compaction/prompt-meter.ts";
import { recordStep } from "./record-step.ts";
import { findRecorded, meteredPrompt, type RunInPlay } from "./run-in-play.ts";
import { picturesShown } from "./show-pictures.ts";
import { storable } from "./storable.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** Whether the model may be called; what failed or was stopped has changed nothing. */
export type Room = { kind: "ready" | "stopped" } | { kind: "failed"; failure: ModelFailure };

const READY: Room = { kind: "ready" };

/**
 * Makes room in a context that is near its budget, before a model call. The replacement is a step of its own: until it is
 * recorded the history is what it was. Source: issue 3, context compaction; decision 014.
 *
 * @param number of the model call.
 * @param isRefused whether the provider has just refused the prompt as too large, whatever its size is thought to be.
 */
export async function compactContext(
  turn: TurnDeps,
  run: RunInPlay,
  number: number,
  isRefused = false,
): Promise<Room> {
  const budgetTokens = turn.model.contextTokens;
  const name = `compacting-${number}`;
  // What was begun is ended, also by an executor that would count otherwise.
  const begun = findRecorded<{ tokens: number }>(run, name);
  const tokens = begun?.tokens ?? run.meter.count(meteredPrompt(run));
  if (findRecorded(run, `compact-${number}`) || !(isRefused || isNearBudget(tokens, budgetTokens)))
    return READY;
  const input: CompactionInput = {
    entries: run.history.entries,
    budgetTokens,
    usedTokens: isRefused ? Math.max(tokens, budgetTokens) : tokens,
    overheadTokens: weighOverhead({ instructions: run.prompt.instructions, tools: run.prompt.toolSet }),
    requestFrom: run.requestFrom,
    picturesShown: picturesShown(turn.model),
    canReadOn: run.prompt.tools.has("read_tool_result"),
  };
  const plan = planCompaction(input);
  if (plan.kind === "impossible")
    return { kind: "failed", failure: { message: plan.message, isRetryable: false } };
  if (plan.kind === "none") return READY;

  const about = aboutRun(run.claim);
  if (!begun)
    await recordStep(turn, run, {
      name,
      output: { tokens: input.usedTokens },
      isCompacting: true,
      events: [{ kind: "turn.compacting", ...about, tokens: input.usedTokens, budgetTokens }],
    });
  const outcome = await carryOutCompaction(turn.model, input, plan, run.signal);
  if (outcome.kind === "stopped") turn.stops.throwIfShuttingDown();
  if (outcome.kind === "stopped") return outcome;
  if (outcome.kind === "failed") {
    // What it used counts; the step is made again by the run that retries.
    if (outcome.usage)
      await recordStep(turn, run, {
        name: `compact-failed-${number}`,
        output: { usage: outcome.usage },
        events: [],
      });
    return { kind: "failed", failure: outcome.failure };
  }
  await faultPoint("K26");
  const { compaction, event, usage } = outcome;
  await recordStep(turn, run, {
    name: `compact-${number}`,
    output: usage ? { how: event.how, usage } : { how: event.how },
    modelMessages: storable(compaction.messages),
    replacesThrough: compaction.replacesThrough,
    isCompacting: false,
    events: [{ kind: "turn.compacted", ...about, ...event }],
  });
  return READY;
}
