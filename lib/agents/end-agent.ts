import type { Transaction } from "#db/client.ts";
import type { AgentOutcome } from "#db/schema/unions.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { appendEvents } from "#lib/events/event-store.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { endWaits } from "#lib/session/waiting/waiting.ts";
import { addUsage, subtractUsage, type UsageSum } from "./add-usage.ts";
import { countLiveAmong, listWaitsFor, storeEnd } from "./agent-end-store.ts";
import { type AgentRow, findAgent, readDelegatedUsage, readOpenRun } from "./agent-store.ts";
import { cutResult } from "./cut-result.ts";

/** How the run of a sub-agent ended. */
type AgentEnd = {
  sessionId: string;
  outcome: AgentOutcome;
  error: string | null;
  /** The agent's last text. It becomes the result if the run succeeded and the agent has not submitted a result. */
  lastText: string;
};

/** What to publish after the commit: events, and the jobs that follow from the end of a wait of the parent. */
export type AgentEnded = { events: StoredEvent[]; wake: Job[] };

/**
 * Settles a sub-agent whose last turn has ended: stores its result, appends `agent.settled` to the parent's log, and
 * ends the parent's waits that are now complete. Not called while a further turn is queued. The caller has locked first
 * the parent's session, then the sub-agent's.
 */
export async function endAgent(tx: Transaction, end: AgentEnd): Promise<AgentEnded> {
  const agent = await findAgent(tx, end.sessionId);
  if (!agent) return { events: [], wake: [] };
  const settled = describeEnd(agent, end);
  await storeEnd(tx, end.sessionId, settled);
  const { parentSessionId } = agent;
  const { result, outcome, error, isSubmitted } = settled;
  const events: NewEvent[] = [
    {
      kind: "agent.settled",
      ...(await readOpenRun(tx, parentSessionId)),
      agentId: end.sessionId,
      name: agent.name,
      status: outcome,
      submitted: isSubmitted,
      // The cast is needed because the event's schema has its own type for JSON values.
      ...(result && (cutResult(result.value, RESULT_BYTES_MAX) as { result: never; isResultCut?: true })),
      ...(error !== null && { error }),
      usage: addUsage([agent.usage]),
    },
  ];
  const afterStored = new Map<NewEvent, Parameters<Emit>[1]>();
  const wake = await wakeParent(tx, agent, (event, onStored) => {
    events.push(event);
    afterStored.set(event, onStored);
  });
  const stored = await appendEvents(tx, parentSessionId, events);
  for (const [index, event] of events.entries()) {
    const storedEvent = stored[index];
    if (storedEvent) await afterStored.get(event)?.(storedEvent);
  }
  return { events: stored, wake };
}

/**
 * Returns the values to store. Uses the last submission even if the last turn did not submit: a message that arrives
 * after a submission starts another turn, which may submit again, submit nothing, or be stopped.
 */
function describeEnd(agent: AgentRow, { outcome, error, lastText }: AgentEnd) {
  const isSubmitted = agent.submission !== null;
  const result = agent.submission ?? (outcome === "succeeded" ? { value: lastText } : null);
  return { outcome, error, isSubmitted, result };
}

/** Maximum size of a result in an event, as JSON. */
const RESULT_BYTES_MAX = 4_096;

/**
 * Ends the parent's waits that this sub-agent completes. A wait with `until` "any" ends now. A wait with "all" ends if
 * none of its sub-agents is live any more.
 */
async function wakeParent(tx: Transaction, agent: AgentRow, emit: Emit): Promise<Job[]> {
  const wake: Job[] = [];
  for (const { runId, callId, subjects, until } of await listWaitsFor(tx, agent)) {
    if (until === "all" && (await countLiveAmong(tx, subjects)) > 0) continue;
    wake.push(...(await endWaits(tx, emit, { runId, callId }, "settled")));
  }
  return wake;
}

/**
 * Returns the usage of a session's sub-agents, without the part that earlier runs of the session have reported.
 * Undefined if all of it was reported.
 */
export async function readNewUsageBelow(tx: Transaction, sessionId: string): Promise<UsageSum | undefined> {
  const { all, reported } = await readDelegatedUsage(tx, sessionId);
  return subtractUsage(addUsage(all), addUsage(reported));
}
