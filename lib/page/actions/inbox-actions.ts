import type { ApprovalView, InboxItem } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** A person's decision about a call that waits for approval. */
export type ApprovalDecision = { approve: true; forSession?: true } | { deny: true; reason?: string };

/** How a person ends a handover of the browser. */
export type HandoverEnd = { done: true; note?: string } | { decline: true };

/** What waits for a person and is settled here, oldest first. */
type Waiting = { approvals: ApprovalView[]; handovers: InboxItem[] };

/** What people can do with calls that wait for approval, and with handovers. Source: `wire.md`, Inbox. */
type InboxActions = {
  /** Reads what waits: at most the 100 newest items. */
  readOpen: () => Promise<ActionOutcome<Waiting>>;
  /**
   * Approves or denies a call, or ends a handover. If another settlement was first, the answer is the item as that settlement has left it,
   * and `isOwn` is false.
   */
  settle: (
    id: string,
    decision: ApprovalDecision | HandoverEnd,
  ) => Promise<ActionOutcome<{ item: InboxItem; isOwn: boolean }>>;
};

/** @param inbox path of the items. */
export function createInboxActions(
  inbox: string,
  fetcher: typeof fetch = (...request) => fetch(...request),
): InboxActions {
  const read = (query: string) => callAction<{ data: InboxItem[] }>(fetcher, "GET", `${inbox}?${query}`);
  return {
    async readOpen() {
      const outcome = await read("state=open&limit=100");
      return outcome.isDone ? { isDone: true, answer: toWaiting(outcome.answer.data) } : outcome;
    },
    async settle(id, decision) {
      const path = `${inbox}/${id}`;
      const outcome = await callAction<{ item: InboxItem }>(fetcher, "POST", path, decision);
      if (outcome.isDone) return { isDone: true, answer: { item: outcome.answer.item, isOwn: true } };
      if (outcome.status !== 409) return outcome;
      const listed = await read("limit=100");
      const item = listed.isDone ? listed.answer.data.find((each) => each.id === id) : undefined;
      return item ? { isDone: true, answer: { item, isOwn: false } } : outcome;
    },
  };
}

const toWaiting = (items: InboxItem[]): Waiting => ({
  approvals: items
    .flatMap(({ call, ...item }) => (item.kind === "approval" && call ? { ...item, call } : []))
    .reverse(),
  handovers: items.filter(({ kind }) => kind === "handover").reverse(),
});
