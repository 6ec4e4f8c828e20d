import type { Database, Transaction } from "#db/client.ts";
import { readSnapshot } from "#db/read-snapshot.ts";
import type { StartupStatus } from "#db/schema/unions.ts";
import type { Deliverable, RunOutcome, WaitingOn } from "#lib/events/event.ts";
import { type DelegationCaps, limitDelegation } from "../delegation.ts";
import { countQueued, findDeliverable, findLastRun, listOpenRuns } from "../store/run-store.ts";
import type { SessionRow } from "../store/session-store.ts";
import { readWaitingOn } from "../waiting/read-waiting-on.ts";
import {
  isCompacting,
  projectDeliverable,
  projectOutcome,
  projectTurnState,
  type TurnState,
} from "./status.ts";

/** Source: specification, Agent status; `wire.md`, Agent status. */
type AgentStatus = {
  turnState: TurnState;
  waitingOn: WaitingOn | null;
  activeRunId: string | null;
  lastRunId: string | null;
  deliverable: Deliverable | null;
  delegation: DelegationCaps;
  startupStatus: StartupStatus;
  lastRun: { outcome: RunOutcome; error: string | null } | null;
  queued: number;
};

/** Computes the agent status of a session from its runs, which are read as they are at one moment. */
export const readAgentStatus = (
  db: Database,
  session: SessionRow,
  deployment: DelegationCaps,
): Promise<AgentStatus> => readSnapshot(db, (tx) => readStatus(tx, session, deployment));

async function readStatus(
  db: Transaction,
  session: SessionRow,
  deployment: DelegationCaps,
): Promise<AgentStatus> {
  const open = await listOpenRuns(db, session.id);
  const lastRun = await findLastRun(db, session.id);
  const isRunning = lastRun?.state === "running";
  const outcome = lastRun ? projectOutcome(lastRun) : null;
  // The deliverable is pending while a retry of the run is open, so the result of the failed attempt is not read.
  const isRetried = open.some(({ run }) => run.requestId === lastRun?.requestId);
  const row =
    lastRun && session.outputSchema && !isRetried ? await findDeliverable(db, lastRun.id) : undefined;
  return {
    turnState: projectTurnState(open.length, lastRun !== undefined && isCompacting(lastRun)),
    waitingOn: isRunning ? await readWaitingOn(db, lastRun) : null,
    activeRunId: isRunning ? lastRun.id : null,
    lastRunId: lastRun?.id ?? null,
    deliverable: lastRun && session.outputSchema ? projectDeliverable(lastRun.id, row) : null,
    delegation: limitDelegation(session, deployment),
    startupStatus: session.startupStatus,
    lastRun: lastRun && outcome ? { outcome, error: lastRun.error } : null,
    queued: await countQueued(db, session.id, open[0]?.run.id ?? null),
  };
}
