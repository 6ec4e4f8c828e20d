import type { Transaction } from "#db/client.ts";
import type { AgentOutcome } from "#db/schema/unions.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import { appendEvents } from "#lib/events/event-store.ts";
import type { Job } from "#lib/session/jobs/jobs.ts";
import { endWaits } from "#lib/session/waiting/waiting.ts";
import { addUsage, subtractUsage, type UsageSum } from "./add-usage.ts";
import { countLiveAmong, listWaitsFor, storeEnd } from "./agent-end-store.ts";
import { type AgentRow, findAgent, readDelegatedUsage, readOpenRun } from "./agent-store.ts";

/** How the run of a sub-agent ended. */
type AgentEnd = {
  sessionId: string;
  requestId: string;
  outcome: AgentOutcome;
  error: string | null;
  /** The agent's last text, which is the result where none was submitted. */
  lastText: string;
};

/** What settling wrote, for those who are told after the commit. */
export type Settled = { events: StoredEvent[]; wake: Job | undefined };

/**
 * Settles a sub-agent whose turn ended with no other turn behind it: stores its result, tells the parent's log, and wakes
 * the parent's turn if it waits for this. The caller has locked the parent's session before the sub-agent's.
 */
export async function settleAgent(tx: Transaction, end: AgentEnd): Promise<Settled> {
  const agent = await findAgent(tx, end.sessionId);
  if (!agent) return { events: [], wake: undefined };
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
      ...(result && cutResult(result.value)),
      ...(error !== null && { error }),
      usage: addUsage([agent.usage]),
    },
  ];
  const wake = await wakeParent(tx, agent, (event) => events.push(event));
  return { events: await appendEvents(tx, parentSessionId, events), wake };
}

function describeEnd(agent: AgentRow, { requestId, outcome, error, lastText }: AgentEnd) {
  const isSubmitted = outcome === "succeeded" && agent.submittedRequestId === requestId;
  const result = isSubmitted ? agent.submission : outcome === "succeeded" ? { value: lastText } : null;
  return { outcome, error, isSubmitted, result };
}

const RESULT_BYTES_MAX = 4_096;

/** A result as an event carries it: whole up to 4 KiB of JSON, otherwise the beginning of that JSON as a string. */
function cutResult(value: unknown): { result: never; isResultCut?: true } {
  const json = Buffer.from(JSON.stringify(value));
  // The event's schema types any JSON value.
  if (json.byteLength <= RESULT_BYTES_MAX) return { result: value as never };
  // Not through a character.
  const text = new TextDecoder().decode(json.subarray(0, RESULT_BYTES_MAX), { stream: true });
  return { result: text as never, isResultCut: true };
}

/** Ends the waits of the parent's turn that this sub-agent was the last, or the one, to settle. */
async function wakeParent(
  tx: Transaction,
  agent: AgentRow,
  emit: (event: NewEvent) => void,
): Promise<Job | undefined> {
  let wake: Job | undefined;
  for (const { runId, callId, subjects, until } of await listWaitsFor(tx, agent)) {
    if (until === "all" && (await countLiveAmong(tx, subjects)) > 0) continue;
    wake = (await endWaits(tx, emit, { runId, callId }, "settled")) ?? wake;
  }
  return wake;
}

/** The usage below a session that none of its runs has reported; undefined if there is none. */
export async function readNewUsageBelow(tx: Transaction, sessionId: string): Promise<UsageSum | undefined> {
  const { all, reported } = await readDelegatedUsage(tx, sessionId);
  return subtractUsage(addUsage(all), addUsage(reported));
}
