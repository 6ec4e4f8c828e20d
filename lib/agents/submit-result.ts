import { storable } from "#db/storable.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { lockCounters } from "#lib/session/store/follow-up-store.ts";
import { storeProgress, storeSubmission } from "./agent-end-store.ts";
import { findAgent, listLiveChildren, readOpenRun } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

const RESULT_BYTES_MAX = 256 * 1024;
const SHOWN_VIOLATIONS = 20;

/**
 * Stores the result of a sub-agent's turn. The parent gets the result when the turn ends. The result is refused if the
 * session is not a sub-agent, if it has live sub-agents of its own, if the result is too large, or if the result does
 * not fit `resultSchema` or cannot be checked.
 *
 * @returns why the result was refused, or undefined if it was stored.
 */
export async function submitResult(
  deps: Pick<AgentsDeps, "db" | "schemas">,
  sessionId: string,
  result: unknown,
): Promise<string | undefined> {
  const agent = await findAgent(deps.db, sessionId);
  if (!agent) return "submit_result: this session is not a sub-agent.";
  const live = await listLiveChildren(deps.db, sessionId);
  if (live.length > 0)
    return `submit_result: ${live.length} of your own sub-agents ${live.length === 1 ? "is" : "are"} live (${live.map(({ name }) => name).join(", ")}). Wait for them or cancel them first.`;
  const value = storable(result);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > RESULT_BYTES_MAX)
    return `submit_result: the result is ${bytes} bytes of JSON; at most ${RESULT_BYTES_MAX} are allowed. Write the rest to a file and name it in the result.`;
  if (agent.resultSchema) {
    const verdict = await deps.schemas.validateValue(agent.resultSchema, value);
    if (!verdict.valid) return describeVerdict(verdict);
  }
  await storeSubmission(deps.db, sessionId, value);
  await faultPoint("agent-result-recorded");
  return undefined;
}

type Invalid = Extract<Awaited<ReturnType<AgentsDeps["schemas"]["validateValue"]>>, { valid: false }>;

function describeVerdict(verdict: Invalid): string {
  if ("error" in verdict) return `submit_result: ${verdict.error}`;
  const { violations } = verdict;
  const lines = violations
    .slice(0, SHOWN_VIOLATIONS)
    .map(({ path, message }) => `- ${path === "" ? "the result itself" : path}: ${message}`);
  const more =
    violations.length > SHOWN_VIOLATIONS ? [`- and ${violations.length - SHOWN_VIOLATIONS} more`] : [];
  return [
    "submit_result: the result does not fit resultSchema:",
    ...lines,
    ...more,
    "Fix it and submit again.",
  ].join("\n");
}

/**
 * Stores and publishes the progress of a sub-agent.
 *
 * @returns false if nothing was published: the session is not a sub-agent, or the text is the same as in the last
 * report. So a repeated call does not publish the text twice.
 */
export async function reportProgress(
  { db, log }: Pick<AgentsDeps, "db" | "log">,
  sessionId: string,
  text: string,
): Promise<boolean> {
  const agent = await findAgent(db, sessionId);
  if (!agent || agent.progress === text) return false;
  await log.transact(agent.parentSessionId, async (tx, emit) => {
    // Locks the parent's session before the sub-agent's row. The end of a run uses the same order, so the two cannot
    // deadlock.
    await lockCounters(tx, agent.parentSessionId);
    await storeProgress(tx, sessionId, text);
    const about = await readOpenRun(tx, agent.parentSessionId);
    emit({ kind: "agent.progress", ...about, agentId: sessionId, name: agent.name, text });
  });
  return true;
}
