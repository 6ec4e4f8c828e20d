import type { RunOrigin, Source } from "#db/schema/unions.ts";
import type { RunRow } from "#lib/session/store/run-store.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";

/**
 * An executor's right to play a run. Another executor that claims the run raises the epoch, and the earlier claim is
 * then over.
 */
export type Claim = {
  runId: string;
  epoch: number;
  sessionId: string;
  requestId: string;
  attempt: number;
  origin: RunOrigin;
  /**
   * Whether the turn may ask people: a person sent the request from the session page, also for its retries, or the
   * session has opted in (`interaction`).
   */
  mayAskPeople: boolean;
  /** How a turn that no person started asks; undefined for a person's turn, and if the session has not opted in. */
  interaction: Interaction | undefined;
  source: Source;
  isStructured: boolean;
};

/** How long questions wait for an answer, and whether the run fails if no one answers in time. */
type Interaction = { timeoutMs: number; failsOnTimeout: boolean };

/**
 * Determines whether and how a turn asks people. Source: `wire.md`, Inbox.
 *
 * @param requestOrigin the origin of the run's request.
 */
export function readInteraction(
  { interaction }: Pick<SessionRow, "interaction">,
  requestOrigin: RunOrigin,
): Pick<Claim, "mayAskPeople" | "interaction"> {
  if (requestOrigin === "person") return { mayAskPeople: true, interaction: undefined };
  if (interaction?.mode !== "ask") return { mayAskPeople: false, interaction: undefined };
  const { timeoutSeconds, onTimeout } = interaction;
  const own = { timeoutMs: timeoutSeconds * 1_000, failsOnTimeout: onTimeout === "fail" };
  return { mayAskPeople: true, interaction: own };
}

/**
 * Composes the claim of a run, with the epoch of the run's row.
 *
 * @param requestOrigin the origin of the run's request. The origin of a retry itself is `retry`, also for a person's request.
 */
export const toClaim = (run: RunRow, session: SessionRow, requestOrigin: RunOrigin): Claim => ({
  runId: run.id,
  epoch: run.epoch,
  sessionId: session.id,
  requestId: run.requestId,
  attempt: run.attempt,
  origin: run.origin,
  ...readInteraction(session, requestOrigin),
  source: session.source,
  isStructured: session.outputSchema !== null,
});

/** Thrown when another executor has claimed the run, or the run has ended. This executor must not write any more. */
export class StaleClaimError extends Error {
  constructor({ runId, epoch }: Pick<Claim, "runId" | "epoch">) {
    super(`${runId} is no longer played by epoch ${epoch}`);
    this.name = "StaleClaimError";
  }
}

/** Whether an error is a `StaleClaimError`. */
export const isStaleClaim = (error: unknown): boolean =>
  error instanceof Error && error.name === "StaleClaimError";

/** The fields that every event of a run shares. */
export const aboutRun = ({ requestId, runId, source }: Pick<Claim, "requestId" | "runId" | "source">) => ({
  requestId,
  runId,
  source,
});
