import { findRun, isOpen, listOpenRuns, type RunRow } from "#lib/session/run-store.ts";
import { findSession, lockSession, type SessionRow } from "#lib/session/store.ts";
import type { Claim } from "./claim.ts";
import { lockRun, raiseEpoch, takeSession } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** Whether a run may be played now: `later` for a retry that waits, `no` for one that ended or is not the next. */
export type ClaimResult =
  | { status: "claimed"; claim: Claim }
  | { status: "later"; at: string }
  | { status: "no" };

/**
 * Claims the session for a run, by compare-and-set of its active run; duplicate and reordered jobs change nothing.
 * Source: `architecture.md`, How a request flows, 2.
 */
export async function claimRun(turn: TurnDeps, runId: string, now: Date): Promise<ClaimResult> {
  const result = await turn.db.transaction(async (tx): Promise<ClaimResult> => {
    const run = await lockRun(tx, runId);
    if (!run || !isOpen(run)) return { status: "no" };
    if (run.notBefore && run.notBefore > now) return { status: "later", at: run.notBefore.toISOString() };
    const session = await lockSession(tx, run.sessionId);
    const [first] = await listOpenRuns(tx, run.sessionId);
    // Whoever closes the run before this one sends its job again.
    if (!session || first?.run.id !== runId) return { status: "no" };
    if (!(await takeSession(tx, session.id, runId))) return { status: "no" };
    const epoch = await raiseEpoch(tx, runId);
    return { status: "claimed", claim: toClaim(run, session, epoch) };
  });
  // A run claimed for the first time has no rows of an earlier executor that would have to be looked for.
  if (result.status === "claimed" && result.claim.epoch === 1) turn.memory.begin(result.claim);
  return result;
}

/** The claim as it stands in the rows, for the clean-up of a run whose executor gave up. */
export async function readClaim(turn: TurnDeps, runId: string): Promise<Claim | undefined> {
  const run = await findRun(turn.db, runId);
  const session = run && (await findSession(turn.db, run.sessionId));
  return run && session && isOpen(run) ? toClaim(run, session, run.epoch) : undefined;
}

const toClaim = (run: RunRow, session: SessionRow, epoch: number): Claim => ({
  runId: run.id,
  epoch,
  sessionId: session.id,
  requestId: run.requestId,
  attempt: run.attempt,
  origin: run.origin,
  source: session.source,
  isStructured: session.outputSchema !== null,
});
