import {
  findRun,
  findSession,
  listOpenRuns,
  lockSession,
  type RunRow,
  type SessionRow,
} from "#lib/session/store.ts";
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
  const seen = await findRun(turn.db, runId);
  if (!seen || !isOpen(seen)) return { status: "no" };
  if (seen.notBefore && seen.notBefore > now) return { status: "later", at: seen.notBefore.toISOString() };

  return turn.db.transaction(async (tx): Promise<ClaimResult> => {
    await lockRun(tx, runId);
    const session = await lockSession(tx, seen.sessionId);
    const [first] = await listOpenRuns(tx, seen.sessionId);
    // Whoever closes the run before this one sends its job again.
    if (!session || first?.run.id !== runId) return { status: "no" };
    if (!(await takeSession(tx, session.id, runId))) return { status: "no" };
    const epoch = await raiseEpoch(tx, runId);
    return { status: "claimed", claim: toClaim(first.run, session, epoch) };
  });
}

/** The claim as it stands in the rows, for the clean-up of a run whose executor gave up. */
export async function readClaim(turn: TurnDeps, runId: string): Promise<Claim | undefined> {
  const run = await findRun(turn.db, runId);
  const session = run && (await findSession(turn.db, run.sessionId));
  return run && session && isOpen(run) ? toClaim(run, session, run.epoch) : undefined;
}

const isOpen = (run: RunRow) => run.state === "pending" || run.state === "running";

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
