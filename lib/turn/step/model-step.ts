import type { ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import type { StepRecord } from "../run/record-step.ts";

/**
 * A tool call of the model. `via`: the tool through which the model made the call (`call_tool`), if it did. `error` is
 * set if the input does not fit the tool, or the answer was cut off; such a call is not executed.
 */
export type PlannedCall = { callId: string; name: string; via?: string; input: unknown; error?: string };

/** The outcome of a model call; the content itself is in the stored messages. */
export type ModelStep =
  | {
      kind: "answered";
      messageId: string;
      calls: PlannedCall[];
      usage: ModelUsage;
      /**
       * Set if the answer was cut off at the output limit, or has neither text nor a call. The turn continues with
       * another call.
       */
      unfinished?: "cut_off" | "empty";
    }
  | { kind: "failed"; failure: ModelFailure; usage?: ModelUsage }
  /** The last answer of a turn. It is not recorded yet, because it is written together with the end of the run. */
  | { kind: "concluded"; record: StepRecord<ModelStep> }
  /**
   * An answer whose only call reads stored data. It is not recorded yet, because it is written with the result of the
   * call.
   */
  | { kind: "calling"; record: StepRecord<ModelStep>; call: PlannedCall }
  /** The provider refused the prompt as too large. Nothing was recorded, so that the context can be compacted first. */
  | { kind: "overflowed"; failure: ModelFailure }
  | { kind: "stopped" };
