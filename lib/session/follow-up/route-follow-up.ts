import type { FollowUpMode } from "#db/schema/unions.ts";
import type { HeadRun } from "../store/follow-up-store.ts";

/** The sender of a follow-up. */
type FollowUpOrigin = "person" | "external" | "subagent";

/** Where a new follow-up is placed. `interrupts` is the id of the run that the caller must stop; null if none. */
export type FollowUpRoute =
  /** No run is open, so the follow-up starts at once. */
  | { kind: "starts" }
  /** Other turns are played before the follow-up. */
  | { kind: "waits"; interrupts: string | null }
  /**
   * The follow-up is played before a run that no executor has claimed. That run is either stopped (`interrupts`) or
   * played later (`overtaken`).
   */
  | { kind: "overtakes"; interrupts: string }
  | { kind: "overtakes"; interrupts: null; overtaken: string }
  /** The turn of this run reads the follow-up. */
  | { kind: "joins"; runId: string };

/**
 * Decides how a follow-up is placed, depending on the first open run. Pure. Source: `wire.md`, Follow-ups.
 *
 * @param followUp.deploymentExcludes whether the deployment excludes tools from turns that no person started.
 * @param head the first open run in playing order: running, about to start, or waiting for a retry.
 */
export function routeFollowUp(
  followUp: { mode: FollowUpMode; origin: FollowUpOrigin; deploymentExcludes?: boolean },
  head: HeadRun | undefined,
): FollowUpRoute {
  const { mode } = followUp;
  if (!head) return { kind: "starts" };
  if (mode === "steer" && maySteer(followUp, head)) return { kind: "joins", runId: head.id };
  if (mode !== "interrupt") return { kind: "waits", interrupts: null };
  if (head.isClaimed) return { kind: "waits", interrupts: head.id };
  // An earlier interrupt is played first. It is stopped only if it has failed and waits for a retry.
  if (head.mode === "interrupt") return { kind: "waits", interrupts: head.attempt > 1 ? head.id : null };
  // The run is not stopped, because its message is not in the transcript yet and would be lost.
  if (head.isWaiting) return { kind: "overtakes", interrupts: null, overtaken: head.id };
  return { kind: "overtakes", interrupts: head.id };
}

/**
 * Whether a follow-up may steer the turn. A turn that is stopping or collecting its result reads no more messages. Only
 * a person may steer a person's turn. A person does not steer a turn that works without some tools because no person
 * started it: the message needs a turn with all tools. A turn that asks the person is steered all the same.
 */
function maySteer(
  { origin, deploymentExcludes = false }: { origin: FollowUpOrigin; deploymentExcludes?: boolean },
  head: HeadRun,
): boolean {
  if (head.isStopping || head.isCollecting) return false;
  if (origin !== "person") return head.origin !== "person";
  const lacksTools = head.isExternal && (head.excludesTools || deploymentExcludes);
  return !lacksTools || head.asksPerson;
}
