import type { InboxSettler, InboxState } from "#db/schema/unions.ts";
import { answerElicitation } from "../elicitation/answer-elicitation.ts";
import type { Decision } from "../store/approval-store.ts";
import type { HandoverEnd } from "../store/handover-store.ts";
import { findItem, type InboxItemRow } from "../store/inbox-store.ts";
import type { WakeDeps } from "../waiting/waiting.ts";
import { settleApproval } from "./approvals.ts";
import { settleHandover } from "./handovers.ts";

/**
 * How an item is settled: an answer to a question, a refusal to answer, a decision about a call, or the end of a handover.
 */
type Settlement =
  | { answer: string | Record<string, unknown> }
  | { decline: true }
  | { done: true; note?: string | undefined }
  | { approve: true; forSession?: boolean | undefined }
  | { deny: true; reason?: string | undefined };

type SettleResult =
  | { status: "accepted"; item: InboxItemRow }
  /** The session has no such item. */
  | { status: "unknown" }
  /** The item was settled before, has expired, or was withdrawn. */
  | { status: "settled"; state: Exclude<InboxState, "open"> }
  /** The settlement does not fit the item, which remains open. `path` names the invalid field. */
  | { status: "invalid"; path: string[]; problem: string };

/** Where the items are settled that the inbox only lists. */
const SETTLED_ELSEWHERE: Partial<Record<InboxItemRow["kind"], string>> = {
  budget: "an item of the kind budget is only listed; raise the budget with PATCH …/budget",
  plan: "an item of the kind plan is only listed; a person agrees to the plan on the session page",
};

/**
 * Settles an open item and wakes the turn that waits for it, in one transaction. The first settlement wins, also over
 * one with the item's own endpoint, such as that of a question.
 */
export async function settleItem(
  deps: WakeDeps,
  { sessionId, itemId }: { sessionId: string; itemId: string },
  settlement: Settlement,
  settledBy: InboxSettler,
): Promise<SettleResult> {
  const item = await findItem(deps.db, sessionId, itemId);
  if (!item) return { status: "unknown" };
  if (item.state !== "open") return { status: "settled", state: item.state };
  const elsewhere = SETTLED_ELSEWHERE[item.kind];
  if (elsewhere !== undefined) return { status: "invalid", path: [], problem: elsewhere };
  const result = await settleByKind(deps, item, settlement, settledBy);
  if (result.status === "invalid") return result;
  const now = await findItem(deps.db, sessionId, itemId);
  if (result.status === "unknown" || !now) return { status: "unknown" };
  if (result.status === "accepted") return { status: "accepted", item: now };
  // The clock of this process may be ahead of the database's, which then still calls the item open.
  return { status: "settled", state: now.state === "open" ? "expired" : now.state };
}

type KindResult =
  | { status: "accepted" | "unknown" | "settled" }
  | { status: "invalid"; path: string[]; problem: string };

async function settleByKind(
  deps: WakeDeps,
  item: InboxItemRow,
  settlement: Settlement,
  settledBy: InboxSettler,
): Promise<KindResult> {
  const decision = readDecision(settlement);
  const [field = ""] = Object.keys(settlement);
  if (item.kind === "approval") {
    if (!decision) return { status: "invalid", path: [field], problem: "this item takes approve or deny" };
    return (await settleApproval(deps, item, decision, settledBy))
      ? { status: "accepted" }
      : { status: "settled" };
  }
  if (item.kind === "handover") {
    const end = readHandoverEnd(settlement);
    if (!end) return { status: "invalid", path: [field], problem: "this item takes done or decline" };
    return (await settleHandover(deps, item, end, settledBy))
      ? { status: "accepted" }
      : { status: "settled" };
  }
  if (decision || "done" in settlement)
    return { status: "invalid", path: [field], problem: "this item takes answer or decline" };
  const question = { sessionId: item.sessionId, elicitationId: item.subjectId };
  const answer = "answer" in settlement ? settlement.answer : null;
  const result = await answerElicitation(deps, question, answer, settledBy);
  return result.status === "invalid" ? { ...result, path: ["answer", ...result.path] } : result;
}

function readDecision(settlement: Settlement): Decision | undefined {
  if ("approve" in settlement) return { approve: true, forSession: settlement.forSession === true };
  if ("deny" in settlement) return { approve: false, reason: settlement.reason ?? null };
  return undefined;
}

function readHandoverEnd(settlement: Settlement): HandoverEnd | undefined {
  if ("done" in settlement) return { state: "done", note: settlement.note ?? null };
  return "decline" in settlement ? { state: "declined" } : undefined;
}
