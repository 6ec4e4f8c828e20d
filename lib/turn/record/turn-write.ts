import type { MessagePart, messages, toolCalls, UsageRow } from "#db/schema/index.ts";
import type { PlannedDelivery } from "#lib/callback/plan-delivery.ts";
import type { EventDraft } from "#lib/events/draft-event.ts";
import type { Deliverable } from "#lib/events/event.ts";
import type { Spend } from "#lib/session/budget/budget.ts";
import type { Job } from "#lib/session/store/jobs.ts";

/** The row of a step: its output (a small value), and the messages that it adds for the model. */
export type StepWrite = {
  name: string;
  output: unknown;
  modelMessages?: unknown[] | undefined;
  replacesThrough?: number | undefined;
};

/** The end of a run, and the retry that follows it, if any. */
export type EndWrite = {
  state: "succeeded" | "errored" | "cancelled";
  error: string | null;
  usage: UsageRow;
  endedAt: Date;
  /**
   * The run that retries the request. Without a retry, the next run in the queue is enqueued. With a retry, the next
   * run is enqueued only if it is an interrupt that goes before the retry.
   */
  retry: { runId: string; attempt: number; delayMs: number } | undefined;
};

export type MessageWrite = Omit<typeof messages.$inferInsert, "sessionId" | "runId"> & { seq: number };
export type ToolCallWrite = Omit<typeof toolCalls.$inferInsert, "sessionId" | "runId">;

/** Everything that a turn writes in one statement. Absent parts are not written. */
export type TurnWrite = {
  step?: StepWrite | undefined;
  /** A step that is recorded in the same statement, before `step`. */
  stepBefore?: StepWrite | undefined;
  /** Moves the run from `pending` to `running`. */
  startedAt?: Date | undefined;
  /** Claims the run for the engine's function run `player`. Requires the fence `fresh`. */
  claim?: { player: string; generation: number } | undefined;
  isCompacting?: boolean | undefined;
  /** Parks the run: no executor plays it until it is woken. */
  parkedAt?: Date | undefined;
  end?: EndWrite | undefined;
  /** New messages of the run, with their positions in the transcript. */
  messages?: MessageWrite[] | undefined;
  /** Messages that are already in the transcript, with the parts that replace all their earlier parts. */
  updatedMessages?: { id: string; parts: MessagePart[] }[] | undefined;
  /** Messages that are already stored but not yet in the transcript, with the positions that they get in it. */
  renumbered?: { id: string; seq: number }[] | undefined;
  /** The last position in the transcript after this write. */
  messageSeq?: number | undefined;
  toolCalls?: ToolCallWrite[] | undefined;
  deliverable?: Deliverable | undefined;
  /** The spend of the step, which is added to the session's spend. */
  spend?: Spend | undefined;
  drafts: EventDraft[];
  /** The callback that one of the event drafts triggers. */
  delivery?: (PlannedDelivery & { draft: EventDraft }) | undefined;
  jobs?: Job[] | undefined;
  /**
   * If true, writes nothing while a message that joined the turn is unread. The caller must have locked run and
   * session. By default true if the write ends the run without a retry.
   */
  unlessSteered?: boolean | undefined;
};

/**
 * The condition on the run for a write. `claimed`: the claim is still valid. `pending`: the run has not started.
 * `open`: the run has not ended (for a clean-up). `alone`: the claimed run is running, no stop was requested, no
 * message is unread, and its session has no other open run, variants, reports or landing pages; the caller needs no
 * locks. `fresh`: the run is the first of a session that has not changed since its creation; the write claims the run.
 */
export type Fence = "claimed" | "pending" | "open" | "alone" | "fresh";

/** The result of a write. */
export type WriteReceipt = {
  isCancelled: boolean;
  /** Whether a message has joined the turn and is not read yet; false for a write without a step. */
  isSteered: boolean;
  /** The `seq` of the last event in `drafts`; 0 without events. */
  lastSeq: number;
  /** Position of the step in the model's history; 0 without a step. */
  position: number;
  /** Position of `stepBefore`; equal to `position` if the write has no such step. */
  positionBefore: number;
  /** The run that was enqueued because this write ended the run before it. */
  following: { id: string; generation: number } | undefined;
};
