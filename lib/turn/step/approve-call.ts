import { askApproval } from "#lib/session/inbox/approvals.ts";
import { findApproval, isApprovedForSession } from "#lib/session/store/approval-store.ts";
import { errorResult, ServiceFailure, type Tool, type ToolResult, type Waiting } from "#lib/tools/tool.ts";
import { needsApproval } from "#lib/tools/tool-policy.ts";
import { type RunInPlay, rootSessionOf } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import type { PlannedCall } from "./model-step.ts";

const DAY_MS = 86_400_000;

/**
 * Whether a call may run. `free`: it needs no approval. `approved`: it runs with exactly the arguments that a person
 * approved; `itemId` names the approval.
 */
type Approval =
  | { kind: "free" }
  | { kind: "approved"; itemId: string; hasBegun: boolean; input: unknown }
  | { kind: "refused"; result: ToolResult }
  | { kind: "waiting"; waiting: Waiting };

const refuse = (text: string): Approval => ({
  kind: "refused",
  result: { ...errorResult(text), refusal: "not_approved" },
});

/**
 * Decides whether a call may run (`tools.approve`). A call that needs a person's approval is recorded with its arguments
 * before it runs, and waits. In a turn that may not ask, it is refused at once. Source: `wire.md`, Approvals.
 */
export async function approveCall(
  deps: TurnDeps,
  run: RunInPlay,
  tool: Tool,
  call: PlannedCall,
): Promise<Approval> {
  const { claim, session, waits } = run;
  if (!needsApproval(session.tools.approve, tool)) return { kind: "free" };
  const { sessionId, runId, mayAskPeople, interaction } = claim;
  // What a person decides about a call's own item counts, not an approval of its tool that came meanwhile.
  const isAsked = (await findApproval(deps.db, runId, call.callId)) !== undefined;
  if (!isAsked && (await isApprovedForSession(deps.db, rootSessionOf(run), tool.name)))
    return { kind: "free" };
  if (!mayAskPeople)
    return refuse(
      `${tool.name} was not run: it needs a person's approval, and no person can be asked in this turn. Do not call it again: continue without it, and say in your reply what is left to do.`,
    );
  const request = {
    sessionId,
    runId,
    call: { toolCallId: call.callId, toolName: tool.name, input: call.input },
    timeoutMs: interaction?.timeoutMs ?? DAY_MS,
  };
  const wait = waits.get(call.callId);
  const item = await askApproval(deps, request, wait?.endedBy).catch((error: unknown) => {
    // A decision may already be stored, so the engine repeats the call instead of showing the model a failure.
    throw new ServiceFailure(error);
  });
  // What follows are waits of the tool itself, which must not see that the call waited for its approval.
  if (item.state !== "open" && wait?.subjects.includes(item.id)) waits.delete(call.callId);
  switch (item.state) {
    case "open":
      return {
        kind: "waiting",
        waiting: {
          status: "waiting",
          on: { kind: "person", subjects: [item.id], deadlineAt: item.expiresAt },
        },
      };
    case "approved":
      return { kind: "approved", itemId: item.id, hasBegun: item.begunAt !== null, input: item.call?.input };
    case "denied":
      return refuse(
        `${tool.name} was not run: a person denied the call${item.reason === null ? "" : `, with the reason: ${item.reason}`}. Do not call it again with the same arguments.`,
      );
    case "expired":
      return refuse(
        `${tool.name} was not run: no person approved the call in time. Do not wait and do not call it again: continue without it, and say in your reply what is left to do.`,
      );
    default:
      return refuse(
        `${tool.name} was not run: the wait for its approval was interrupted by a message. Read the message; call it again if it is still needed.`,
      );
  }
}
