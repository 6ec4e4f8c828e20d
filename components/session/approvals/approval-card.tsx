"use client";

import { ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ApprovalDecision } from "#lib/page/actions/inbox-actions.ts";
import { formatUntil } from "#lib/page/labels/format.ts";
import type { ApprovalView } from "#lib/page/state/view-types.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { useNow } from "../../ui/use-now.ts";
import { CallArguments } from "./call-arguments.tsx";

type CardProps = {
  approval: ApprovalView;
  /** How the call was settled elsewhere. The card then offers only to close it. */
  outcome?: string;
  onClose?: (id: string) => void;
  /** Settles the call. Returns the sentence of a failure. Absent for visitors who may only watch. */
  onDecide?: ((decision: ApprovalDecision) => Promise<string | undefined>) | undefined;
};

/** Shows a call that waits for approval: who asks, the tool, the exact arguments, and the buttons that settle it. */
export function ApprovalCard({ approval, outcome, onClose, onDecide }: CardProps) {
  const { id, title, agentName, call, expiresAt } = approval;
  const titleId = `approval-${id}`;
  return (
    <section
      aria-labelledby={titleId}
      className="flex shrink-0 flex-col gap-2 rounded-lg border border-warn/40 bg-warn-soft px-3 pt-3"
    >
      <h2 id={titleId} dir="auto" className="flex gap-2 font-medium text-base [overflow-wrap:anywhere]">
        <ShieldQuestion aria-hidden className="mt-[3px] size-4 shrink-0 text-warn" />
        {title}
      </h2>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        {agentName === undefined ? "The agent" : `The sub-agent ${agentName}`} wants to call{" "}
        <span className="font-mono text-ink text-xs">{call.toolName}</span> with exactly these arguments:
      </p>
      <CallArguments input={call.input} />
      {outcome !== undefined ? (
        <Footer>
          <p role="status" className="flex-1 text-sm">
            {outcome}
          </p>
          <Button onClick={() => onClose?.(id)}>Close</Button>
        </Footer>
      ) : onDecide ? (
        <Decision expiresAt={expiresAt} onDecide={onDecide} />
      ) : (
        <Footer>
          <OpenFor until={expiresAt} />
          <span className="text-soft text-xs">Waits for a person who may approve it</span>
        </Footer>
      )}
    </section>
  );
}

function Decision({
  expiresAt,
  onDecide,
}: Pick<ApprovalView, "expiresAt"> & Required<Pick<CardProps, "onDecide">>) {
  const [reason, setReason] = useState("");
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  async function decide(decision: ApprovalDecision): Promise<void> {
    setSending(true);
    setFailure(undefined);
    setFailure(await onDecide?.(decision));
    setSending(false);
  }
  const text = reason.trim();
  return (
    <Footer>
      {failure && (
        <p role="alert" className="w-full text-bad text-sm">
          {failure}
        </p>
      )}
      <Input
        dir="auto"
        aria-label="Reason for denying"
        placeholder="Reason, if you deny it (optional)"
        value={reason}
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
      />
      <OpenFor until={expiresAt} />
      <Button
        variant="ghost"
        disabled={isSending}
        onClick={() => decide({ deny: true, ...(text !== "" && { reason: text }) })}
      >
        Deny
      </Button>
      <Button disabled={isSending} onClick={() => decide({ approve: true, forSession: true })}>
        Approve for this session
      </Button>
      <Button variant="primary" disabled={isSending} onClick={() => decide({ approve: true })}>
        Approve
      </Button>
    </Footer>
  );
}

/** Stays at the lower edge while the arguments scroll. */
const Footer = ({ children }: { children: ReactNode }) => (
  <div className="sticky bottom-0 -mx-3 flex flex-wrap items-center justify-end gap-2 rounded-b-lg bg-warn-soft px-3 pt-2 pb-3">
    {children}
  </div>
);

function OpenFor({ until }: { until: string | null }) {
  const now = useNow(30_000, until !== null);
  return (
    <span className="flex-1 text-soft text-xs">
      {now !== null && until !== null && `Open ${formatUntil(until, now)}`}
    </span>
  );
}
