import { limitDelegation } from "#lib/session/delegation.ts";
import { acceptMessage } from "#lib/session/follow-up/accept-message.ts";
import { lockCounters } from "#lib/session/store/follow-up-store.ts";
import { refuseOverCap } from "./admission.ts";
import { startAgain } from "./agent-end-store.ts";
import { countLive, findAgent, mayDelegate, readParent } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";

type MessageCall = { sessionId: string; runId: string; callId: string };

type MessageResult = { ok: true } | { ok: false; error: string };

/**
 * Sends a message to a child. A live child reads the message during its turn. An ended child begins a new turn and
 * counts as live again; the message is refused if that would exceed a limit. A repeated call does not send the message
 * again.
 */
export async function messageAgent(
  deps: AgentsDeps,
  call: MessageCall,
  { agentId, text }: { agentId: string; text: string },
): Promise<MessageResult> {
  const { db } = deps;
  const agent = await findAgent(db, agentId);
  if (agent?.parentSessionId !== call.sessionId)
    return { ok: false, error: `message_agent: you have no sub-agent ${agentId}.` };
  const accepted = await acceptMessage(deps, {
    sessionId: agentId,
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    mode: "steer",
    origin: "subagent",
    userId: null,
    idempotencyKey: `${call.runId}/${call.callId}`,
    bodyHash: call.callId,
    async admit(tx) {
      // Locks ancestors before their descendants, to avoid a deadlock.
      await lockCounters(tx, agent.rootSessionId);
      if (agent.rootSessionId !== call.sessionId) await lockCounters(tx, call.sessionId);
      await lockCounters(tx, agentId);
      const now = await findAgent(tx, agentId);
      const parent = await readParent(tx, call.sessionId);
      if (!now || !parent || !(await mayDelegate(tx, call.runId)))
        return "message_agent: the turn is being stopped.";
      if (now.outcome === null) return undefined;
      const refusal = refuseOverCap(
        { tool: "message_agent", children: 1, browsers: now.browser === "own" ? 1 : 0 },
        await countLive(tx, { sessionId: call.sessionId, rootSessionId: agent.rootSessionId }),
        { ...limitDelegation(parent.session, deps.limits), maxLiveTotal: deps.limits.maxLiveTotal },
      );
      if (refusal === undefined) await startAgain(tx, agentId);
      return refusal;
    },
  });
  switch (accepted.status) {
    case "accepted":
    case "replayed":
      return { ok: true };
    case "refused":
      return { ok: false, error: accepted.error };
    default:
      return {
        ok: false,
        error: "message_agent: the sub-agent takes no more messages now; wait for it first.",
      };
  }
}
