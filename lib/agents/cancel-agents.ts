import { setTimeout as sleep } from "node:timers/promises";
import { and, inArray, isNull, sql } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { agents, runs } from "#db/schema/index.ts";
import { listOpenRuns, OPEN_STATES } from "#lib/session/run/run-store.ts";
import { type AgentRow, findAgent, listLiveChildren } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 50;

type CancelDeps = Pick<AgentsDeps, "db" | "stopRun">;

/** Stops a live sub-agent; those below it end with it. Waits until it has ended, 2 s at most. */
export async function cancelAgent(deps: CancelDeps, sessionId: string): Promise<AgentRow | undefined> {
  for (const { run } of await listOpenRuns(deps.db, sessionId)) await deps.stopRun(run.id);
  await waitUntil(async () => (await findAgent(deps.db, sessionId))?.outcome !== null);
  return findAgent(deps.db, sessionId);
}

/** Stops the live children of a session, and with them everything below. Waits until they have ended, 2 s at most. */
export async function cancelChildren(deps: CancelDeps, sessionId: string): Promise<void> {
  const live = await listLiveChildren(deps.db, sessionId);
  await Promise.all(live.map((child) => cancelAgent(deps, child.sessionId)));
}

async function waitUntil(isDone: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!(await isDone()) && performance.now() < until) await sleep(LOOK_EVERY_MS);
}

/**
 * Notes in the transaction that ends a session's turn that everything live below it is to stop, so that it does even if the
 * process ends before it has stopped it.
 */
export async function noteStopBelow(tx: Transaction, sessionId: string): Promise<void> {
  const below = sql`(with recursive below as (
    select ${agents.sessionId} as id from ${agents} where ${agents.parentSessionId} = ${sessionId} and ${isNull(agents.outcome)}
    union select child.session_id from ${agents} child join below on child.parent_session_id = below.id
  ) select id from below)`;
  await tx
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, now())` })
    .where(and(sql`${runs.sessionId} in ${below}`, inArray(runs.state, OPEN_STATES)));
}
