import type { UsageRow } from "#db/schema/index.ts";
import { NO_USAGE } from "#lib/agents/add-usage.ts";
import type { ModelUsage } from "#lib/model/usage.ts";

/** Adds up the model calls, tokens and tool calls in the recorded steps of a run, and computes the run's duration. */
export function sumUsage(outputs: Iterable<unknown>, startedAt: Date | null, endedAt: Date): UsageRow {
  const durationMs = startedAt ? Math.max(0, endedAt.getTime() - startedAt.getTime()) : 0;
  const total: UsageRow = { ...NO_USAGE, durationMs };
  for (const output of outputs) {
    if (isToolStep(output)) total.toolCalls++;
    const usage = readStepUsage(output);
    if (!usage) continue;
    total.modelCalls += readCalls(output);
    total.inputTokens += usage.inputTokens;
    total.outputTokens += usage.outputTokens;
    total.reasoningTokens += usage.reasoningTokens;
    total.cachedInputTokens += usage.cachedInputTokens;
  }
  return total;
}

const isToolStep = (output: unknown) => typeof output === "object" && output !== null && "callId" in output;

/** Returns the number of model calls in a step's output that has a usage: one, unless it says otherwise. */
const readCalls = (output: unknown): number =>
  typeof output === "object" && output !== null && "modelCalls" in output ? Number(output.modelCalls) : 1;

/** Returns the usage in a step's output; undefined for a step without a model call. */
function readStepUsage(output: unknown): ModelUsage | undefined {
  if (typeof output !== "object" || output === null || !("usage" in output)) return undefined;
  return output.usage as ModelUsage;
}
