import type { AgentOutcome } from "#db/schema/unions.ts";
import { addUsage, type UsageSum } from "./add-usage.ts";
import { type AgentRow, listChildren, listUnreported, markReported } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

/** A sub-agent as the parent's model sees it. */
export type AgentReport = {
  agentId: string;
  name: string;
  status: AgentOutcome | "running";
  result?: unknown;
  error?: string;
  submitted: boolean;
  usage: UsageSum;
};

/** Converts a stored sub-agent to its report. */
export const reportAgent = (row: AgentRow): AgentReport => ({
  agentId: row.sessionId,
  name: row.name,
  status: row.outcome ?? "running",
  ...(row.outcome && row.result && { result: row.result.value }),
  ...(row.outcome && row.error !== null && { error: row.error }),
  submitted: row.outcome !== null && row.isSubmitted,
  usage: addUsage([row.usage]),
});

/** Whether a wait is over: all sub-agents have ended, or one has ended and `until` is `any`. */
const isOver = (rows: AgentRow[], until: "all" | "any"): boolean => {
  const settled = rows.filter(({ outcome }) => outcome !== null);
  return settled.length === rows.length || (until === "any" && settled.length > 0);
};

type WaitState =
  | { kind: "unknown"; agentId: string }
  | { kind: "waiting"; agentIds: string[] }
  | { kind: "over"; reports: AgentReport[] };

/**
 * Checks whether a wait for children of a session is over. If the wait is over, returns the children's reports and
 * records the ended children as reported. If `agentIds` contains an id that is not a child's, returns that id instead.
 *
 * @param options.agentIds the children to wait for; by default the live children and the children whose end was not
 * reported yet.
 * @param options.isLast whether to return the reports even if children are still live.
 */
export async function checkAgentWait(
  { db }: Pick<AgentsDeps, "db">,
  sessionId: string,
  options: {
    agentIds: readonly string[] | undefined;
    until: "all" | "any";
    reader: string;
    isLast: boolean;
  },
): Promise<WaitState> {
  const { agentIds, until, reader, isLast } = options;
  let rows = await (agentIds ? listChildren(db, sessionId) : listUnreported(db, sessionId, reader));
  if (agentIds) {
    const unknown = agentIds.find((id) => !rows.some((row) => row.sessionId === id));
    if (unknown !== undefined) return { kind: "unknown", agentId: unknown };
    rows = rows.filter((row) => agentIds.includes(row.sessionId));
  }
  if (!isLast && !isOver(rows, until)) return { kind: "waiting", agentIds: rows.map((row) => row.sessionId) };
  const settled = rows.filter(({ outcome }) => outcome !== null);
  await markReported(
    db,
    settled.map((row) => row.sessionId),
    reader,
  );
  return { kind: "over", reports: rows.map(reportAgent) };
}
