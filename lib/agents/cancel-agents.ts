import { setTimeout as sleep } from "node:timers/promises";
import { listOpenRuns } from "#lib/session/store/run-store.ts";
import { countLiveAmong } from "./agent-end-store.ts";
import { type AgentRow, findAgent, listLiveChildren } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

const WAIT_MAX_MS = 2_000;
const POLL_INTERVAL_MS = 50;

type CancelDeps = Pick<AgentsDeps, "db" | "stopRun">;

/**
 * Stops a live sub-agent and all sub-agents below it. Waits until the sub-agent has ended, for at most 2 s. Returns the
 * row of the sub-agent, which may still be live then.
 */
export async function cancelAgent(deps: CancelDeps, sessionId: string): Promise<AgentRow | undefined> {
  for (const { run } of await listOpenRuns(deps.db, sessionId)) await deps.stopRun(run.id);
  await waitUntil(async () => (await countLiveAmong(deps.db, [sessionId])) === 0);
  return findAgent(deps.db, sessionId);
}

/**
 * Stops the live children of a session and all sub-agents below them. Waits until the children have ended, for at most
 * 2 s.
 */
export async function cancelChildren(deps: CancelDeps, sessionId: string): Promise<void> {
  const live = await listLiveChildren(deps.db, sessionId);
  await Promise.all(live.map((child) => cancelAgent(deps, child.sessionId)));
}

async function waitUntil(isDone: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + WAIT_MAX_MS;
  while (!(await isDone()) && performance.now() < until) await sleep(POLL_INTERVAL_MS);
}
