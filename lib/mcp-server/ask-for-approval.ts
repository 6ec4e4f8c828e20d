import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { PlanGate } from "#lib/planning/plan-gate.ts";
import { approveOutsideCall, type OutsideApproval } from "#lib/session/inbox/approvals.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { readNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { lacksApproval } from "#lib/tools/approval-gate.ts";
import type { McpRequest, McpTool } from "./mcp-tool.ts";

type AskDeps = { db: Database; log: EventLog; planGate: PlanGate };

type AskedCall = {
  session: SessionRow;
  rootSessionId: string;
  tool: McpTool;
  toolName: string;
  input: unknown;
};

/** Clients give a request up after a minute by default. */
const WAIT_MS = 45_000;
const POLL_MS = 1_000;
const DAY_SECONDS = 86_400;

/**
 * Asks for the approval of another agent's call, where the session lets turns of programs ask and the client opens pages. The
 * first call opens an item of the inbox and is answered at once. A repeated call waits for the decision for a while.
 *
 * @returns undefined if the call needs no approval, or if no person can be asked. Source: decision 136.
 */
export async function askForApproval(
  deps: AskDeps,
  { session, rootSessionId, tool, toolName, input }: AskedCall,
  request: Pick<McpRequest, "callId" | "client" | "signal" | "progress">,
): Promise<OutsideApproval | undefined> {
  const { interaction, id: sessionId } = session;
  if (interaction?.mode !== "ask" || !request.client.opensPages) return undefined;
  const about = { sessionId, rootSessionId };
  if (!(await lacksApproval(deps.db, about, toolName))) return undefined;
  // Calls that would be refused for another reason do not ask.
  if (!readNullsAsAbsent(tool.input, input ?? {}).success) return undefined;
  if ((await deps.planGate(tool, rootSessionId)) !== undefined) return undefined;
  const decide = () =>
    approveOutsideCall(deps, {
      sessionId,
      call: { toolCallId: request.callId, toolName, input: input ?? {} },
      timeoutMs: (interaction.timeoutSeconds ?? DAY_SECONDS) * 1_000,
    });
  const first = await decide();
  return first.state === "waiting" && !first.isNew ? waitForDecision(decide, request) : first;
}

/** Waits until a person has decided, the call is cancelled, or the time of one call is over. */
async function waitForDecision(
  decide: () => Promise<OutsideApproval>,
  { signal, progress }: Pick<McpRequest, "signal" | "progress">,
): Promise<OutsideApproval> {
  const deadline = createDeadline({ ms: WAIT_MS, signal });
  const never = new Promise<never>(() => {});
  for (;;) {
    const leftMs = deadline.remainingMs();
    progress(Math.round(WAIT_MS - leftMs), WAIT_MS, "Waits for a person's approval.");
    await createDeadline({ ms: Math.min(POLL_MS, leftMs), signal }).settles(never);
    const decision = await decide();
    // An item that is new has replaced one that expired during the wait.
    if (decision.state !== "waiting" || decision.isNew) return decision;
    if (signal.aborted || deadline.remainingMs() === 0) return decision;
  }
}
