import type { FollowUpMode } from "#db/schema/unions.ts";
import type { HeadRun } from "./follow-up-store.ts";

/** Who sends a follow-up. */
type FollowUpOrigin = "person" | "external" | "subagent";

/** What becomes of a follow-up when it arrives. `interrupts` is the run that is to end for it. */
export type Placement =
  /** Nothing is before it. */
  | { kind: "starts" }
  /** Its turn comes after others. */
  | { kind: "waits"; interrupts: string | null }
  /** It overtakes a turn that nobody has begun, and is the next. `spares` is the run whose turn then comes after it. */
  | { kind: "overtakes"; interrupts: string }
  | { kind: "overtakes"; interrupts: null; spares: string }
  /** It is read by the turn of this run. */
  | { kind: "joins"; runId: string };

/**
 * Decides about a follow-up by the turn at the head of the queue. Pure. Source: `wire.md`, Follow-ups.
 *
 * @param head the first open run in playing order: running, about to start, or a retry that waits.
 */
export function placeFollowUp(
  { mode, origin }: { mode: FollowUpMode; origin: FollowUpOrigin },
  head: HeadRun | undefined,
): Placement {
  if (!head) return { kind: "starts" };
  if (mode === "steer" && maySteer(origin, head)) return { kind: "joins", runId: head.id };
  if (mode !== "interrupt") return { kind: "waits", interrupts: null };
  if (head.isClaimed) return { kind: "waits", interrupts: head.id };
  // Interrupts among themselves keep their order: one that was not begun is not ended by the next.
  if (head.mode === "interrupt") return { kind: "waits", interrupts: head.attempt > 1 ? head.id : null };
  // Ended now, it would take its message with it.
  if (head.isWaiting) return { kind: "overtakes", interrupts: null, spares: head.id };
  return { kind: "overtakes", interrupts: head.id };
}

/**
 * A turn that is stopping, or whose result is being collected, reads no more messages; and a program may not steer a
 * person's turn.
 */
const maySteer = (origin: FollowUpOrigin, head: HeadRun): boolean =>
  !head.isStopping && !head.isCollecting && (origin === "person" || head.origin !== "person");
