import type { AgentOutcome } from "#db/schema/unions.ts";
import { addUsage, type UsageSum } from "./add-usage.ts";
import { type AgentRow, listChildren, listUnreported, noteReported } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

/** A sub-agent as its parent's model is shown it. */
export type AgentReport = {
  agentId: string;
  name: string;
  status: AgentOutcome | "running";
  result?: unknown;
  error?: string;
  submitted: boolean;
  usage: UsageSum;
};

/** @see AgentReport */
export const reportAgent = (row: AgentRow): AgentReport => ({
  agentId: row.sessionId,
  name: row.name,
  status: row.outcome ?? "running",
  ...(row.outcome && row.result && { result: row.result.value }),
  ...(row.outcome && row.error !== null && { error: row.error }),
  submitted: row.outcome !== null && row.isSubmitted,
  usage: addUsage([row.usage]),
});

/** Whether a wait is over by what has settled. */
const isOver = (rows: AgentRow[], until: "all" | "any"): boolean => {
  const settled = rows.filter(({ outcome }) => outcome !== null);
  return settled.length === rows.length || (until === "any" && settled.length > 0);
};

type Looked =
  | { kind: "unknown"; agentId: string }
  | { kind: "waiting"; agentIds: string[] }
  | { kind: "over"; reports: AgentReport[] };

/**
 * Looks how the children of a session stand. Those that have ended count as reported from then on.
 *
 * @param asked.agentIds which children; by default those that are live, and those whose end the model was not told.
 * @param asked.isLast whether the answer is to be given even where the children are still live.
 */
export async function lookAtAgents(
  { db }: Pick<AgentsDeps, "db">,
  sessionId: string,
  asked: {
    agentIds: readonly string[] | undefined;
    until: "all" | "any";
    reader: string;
    isLast: boolean;
  },
): Promise<Looked> {
  const { agentIds, until, reader, isLast } = asked;
  let rows = await (agentIds ? listChildren(db, sessionId) : listUnreported(db, sessionId, reader));
  if (agentIds) {
    const unknown = agentIds.find((id) => !rows.some((row) => row.sessionId === id));
    if (unknown !== undefined) return { kind: "unknown", agentId: unknown };
    rows = rows.filter((row) => agentIds.includes(row.sessionId));
  }
  if (!isLast && !isOver(rows, until)) return { kind: "waiting", agentIds: rows.map((row) => row.sessionId) };
  const settled = rows.filter(({ outcome }) => outcome !== null);
  await noteReported(
    db,
    settled.map((row) => row.sessionId),
    reader,
  );
  return { kind: "over", reports: rows.map(reportAgent) };
}
