"use client";

import { useMemo, useState } from "react";
import { type ApprovalDecision, createInboxActions } from "#lib/page/actions/inbox-actions.ts";
import { describeApproval } from "#lib/page/labels/describe-approval.ts";
import type { ApprovalView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { lazily } from "../../ui/lazily.tsx";
import { useSyncApprovals } from "./use-sync-approvals.ts";

const ApprovalCard = lazily(
  async () => (await import("./approval-card.tsx")).ApprovalCard,
  <div className="min-h-32" />,
);

/** An approval that was settled elsewhere before this page's decision, and how. */
type Lost = { approval: ApprovalView; outcome: string };

/**
 * Shows the calls that wait for approval. Viewers see them without buttons. A call disappears when it is settled; only
 * if this page's decision was too late, it stays with the outcome until the person closes it.
 */
export function Approvals({ onSettled }: { onSettled: () => void }) {
  const { store } = useRuntime();
  const { role, approvals, paths } = useSession();
  const inbox = useMemo(() => createInboxActions(paths.inbox), [paths.inbox]);
  const [lost, setLost] = useState<readonly Lost[]>([]);
  useSyncApprovals(inbox);

  /** @returns the sentence of a failure; undefined if the call is settled. */
  async function settle(approval: ApprovalView, decision: ApprovalDecision): Promise<string | undefined> {
    const outcome = await inbox.settle(approval.id, decision);
    if (!outcome.isDone) return outcome.error;
    const { item, isOwn } = outcome.answer;
    if (!isOwn) setLost((others) => [...others, { approval, outcome: describeApproval(item) }]);
    store.replaceApprovals(store.getState().approvals.filter(({ id }) => id !== approval.id));
    if (isOwn) onSettled();
    return undefined;
  }
  const close = (id: string) => {
    setLost((others) => others.filter(({ approval }) => approval.id !== id));
    onSettled();
  };

  const open = approvals.filter(({ id }) => !lost.some(({ approval }) => approval.id === id));
  if (open.length + lost.length === 0) return null;
  return (
    <div className="flex min-h-32 scroll-pb-16 flex-col gap-2 overflow-y-auto overscroll-contain">
      {lost.map(({ approval, outcome }) => (
        <ApprovalCard key={approval.id} approval={approval} outcome={outcome} onClose={close} />
      ))}
      {open.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          onDecide={role === "drive" ? (decision) => settle(approval, decision) : undefined}
        />
      ))}
    </div>
  );
}
