import type { ApprovalView, InboxItem } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** A person's decision about a call that waits for approval. */
export type ApprovalDecision = { approve: true; forSession?: true } | { deny: true; reason?: string };

/** What people can do with the calls that wait for approval. Source: `wire.md`, Approvals. */
type InboxActions = {
  /** Reads the calls that wait for approval, oldest first: at most the 100 newest. */
  readOpen: () => Promise<ActionOutcome<ApprovalView[]>>;
  /**
   * Approves or denies a call. If another settlement was first, the answer is the call as that settlement has left it,
   * and `isOwn` is false.
   */
  settle: (
    id: string,
    decision: ApprovalDecision,
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
      return outcome.isDone ? { isDone: true, answer: toApprovals(outcome.answer.data) } : outcome;
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

const toApprovals = (items: InboxItem[]): ApprovalView[] =>
  items.flatMap(({ call, ...item }) => (item.kind === "approval" && call ? { ...item, call } : [])).reverse();
