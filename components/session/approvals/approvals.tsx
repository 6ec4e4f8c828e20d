"use client";

import { useMemo, useState } from "react";
import {
  type ApprovalDecision,
  createInboxActions,
  type HandoverEnd,
} from "#lib/page/actions/inbox-actions.ts";
import { describeApproval } from "#lib/page/labels/describe-approval.ts";
import type { ApprovalView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { lazily } from "../../ui/lazily.tsx";
import { useSyncApprovals } from "./use-sync-approvals.ts";

const ApprovalCard = lazily(
  async () => (await import("./approval-card.tsx")).ApprovalCard,
  <div className="min-h-32" />,
);

const HandoverCard = lazily(
  async () => (await import("./handover-card.tsx")).HandoverCard,
  <div className="min-h-32" />,
);

/** An approval that was settled elsewhere before this page's decision, and how. */
type Lost = { approval: ApprovalView; outcome: string };

/**
 * Shows the handovers of the browser, and the calls that wait for approval. Viewers see them without buttons. A call disappears when it is settled; only
 * if this page's decision was too late, it stays with the outcome until the person closes it.
 */
export function Approvals({ onSettled, showBrowser }: { onSettled: () => void; showBrowser?: () => void }) {
  const { store, live } = useRuntime();
  const { role, approvals, handovers, control, paths } = useSession();
  const inbox = useMemo(() => createInboxActions(paths.inbox), [paths.inbox]);
  const [lost, setLost] = useState<readonly Lost[]>([]);
  useSyncApprovals(inbox);

  /** @returns the sentence of a failure; undefined if the call is settled. */
  async function settle(approval: ApprovalView, decision: ApprovalDecision): Promise<string | undefined> {
    const outcome = await inbox.settle(approval.id, decision);
    if (!outcome.isDone) return outcome.error;
    const { item, isOwn } = outcome.answer;
    if (!isOwn) setLost((others) => [...others, { approval, outcome: describeApproval(item) }]);
    store.replaceWaiting({ approvals: store.getState().approvals.filter(({ id }) => id !== approval.id) });
    if (isOwn) onSettled();
    return undefined;
  }
  /** @returns the sentence of a failure; undefined if the handover is over. */
  async function endHandover(id: string, end: HandoverEnd): Promise<string | undefined> {
    const outcome = await inbox.settle(id, end);
    if (!outcome.isDone) return outcome.error;
    // The turn goes on only after that.
    if (control === "you") live.send({ type: "control.release" });
    store.replaceWaiting({ handovers: store.getState().handovers.filter((each) => each.id !== id) });
    onSettled();
    return undefined;
  }
  function takeControl(): void {
    showBrowser?.();
    live.send({ type: "control.take" });
  }
  const close = (id: string) => {
    setLost((others) => others.filter(({ approval }) => approval.id !== id));
    onSettled();
  };

  const open = approvals.filter(({ id }) => !lost.some(({ approval }) => approval.id === id));
  if (open.length + lost.length + handovers.length === 0) return null;
  return (
    <div className="flex min-h-32 scroll-pb-16 flex-col gap-2 overflow-y-auto overscroll-contain">
      {handovers.map((handover) => (
        <HandoverCard
          key={handover.id}
          handover={handover}
          hasControl={control === "you"}
          onTake={role === "drive" ? takeControl : undefined}
          onEnd={role === "drive" ? (end) => endHandover(handover.id, end) : undefined}
        />
      ))}
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
