import type { MessagePart, messages, toolCalls, UsageRow } from "#db/schema/index.ts";
import type { PlannedDelivery } from "#lib/callback/plan-delivery.ts";
import type { EventDraft } from "#lib/events/draft-event.ts";
import type { Deliverable } from "#lib/events/event.ts";
import type { Spend } from "#lib/session/budget/budget.ts";
import type { Job } from "#lib/session/jobs/jobs.ts";

/** A step's row: the small value it hands back, and what the model sees from now on. */
export type StepWrite = {
  name: string;
  output: unknown;
  modelMessages?: unknown[] | undefined;
  replacesThrough?: number | undefined;
};

/** How a run ends, and what comes after it. */
export type EndWrite = {
  state: "succeeded" | "errored" | "cancelled";
  error: string | null;
  usage: UsageRow;
  endedAt: Date;
  /** The run that tries again; without one, the next of the queue is sent. */
  retry: { runId: string; attempt: number; delayMs: number } | undefined;
};

export type MessageWrite = Omit<typeof messages.$inferInsert, "sessionId" | "runId"> & { seq: number };
export type ToolCallWrite = Omit<typeof toolCalls.$inferInsert, "sessionId" | "runId">;

/** Everything a turn writes at once; absent parts are left out of the statement. */
export type TurnWrite = {
  step?: StepWrite | undefined;
  /** A step that is recorded in the same statement, before `step`. */
  stepBefore?: StepWrite | undefined;
  /** Moves the run from `pending` to `running`. */
  startedAt?: Date | undefined;
  /** Claims the run for this function run of the engine, with the fence `fresh`. */
  claim?: { player: string; generation: number } | undefined;
  isCompacting?: boolean | undefined;
  /** Parks the run: nobody plays it until it is woken. */
  parkedAt?: Date | undefined;
  end?: EndWrite | undefined;
  /** New messages of the run, with their places in the transcript. */
  messages?: MessageWrite[] | undefined;
  /** New parts of messages that are in the transcript already. */
  updatedMessages?: { id: string; parts: MessagePart[] }[] | undefined;
  /** Messages that waited, and get their places now. */
  placed?: { id: string; seq: number }[] | undefined;
  /** Last place in the transcript after this write. */
  messageSeq?: number | undefined;
  toolCalls?: ToolCallWrite[] | undefined;
  deliverable?: Deliverable | undefined;
  /** What the step has spent; added to what the session has spent so far. */
  spend?: Spend | undefined;
  drafts: EventDraft[];
  /** The callback that one of the drafts asks for. */
  delivery?: (PlannedDelivery & { draft: EventDraft }) | undefined;
  jobs?: Job[] | undefined;
  /** Writes nothing while a message that joined the turn is unread; the caller holds the locks of run and session. */
  unlessSteered?: boolean | undefined;
};

/**
 * Which runs a write may touch: one whose claim holds, one that waits, or (for a clean-up) any open one. `alone` is a claimed
 * run that ends with nothing around it: nobody asked it to stop, no message waits, and its session has no variants, reports
 * and landing pages to tell of. The caller of an end with this fence holds no locks. `fresh` is the first run of a session of
 * which nothing has changed since its creation; the write claims it.
 */
export type Fence = "claimed" | "pending" | "open" | "alone" | "fresh";

/** What a write found and did. */
export type WriteReceipt = {
  isCancelled: boolean;
  /** A message was put into the turn and is not yet read. */
  isSteered: boolean;
  /** The number of the last of the drafts. */
  lastSeq: number;
  /** Position of the step in what the model has seen. */
  position: number;
  /** Position of the step before it in the same write; equal to `position` without one. */
  positionBefore: number;
  /** The run whose turn comes after the one that ended. */
  following: { id: string; generation: number } | undefined;
};
