"use client";

import { Hand } from "lucide-react";
import { useState } from "react";
import type { HandoverEnd } from "#lib/page/actions/inbox-actions.ts";
import { formatUntil } from "#lib/page/labels/format.ts";
import type { InboxItem } from "#lib/page/state/view-types.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { useNow } from "../../ui/use-now.ts";

type CardProps = {
  handover: InboxItem;
  /** Whether this visitor has control of the browser. */
  hasControl: boolean;
  /** Opens the live view with control. Absent for visitors who may only watch. */
  onTake?: (() => void) | undefined;
  /** Ends the handover. Returns the sentence of a failure. Absent for visitors who may only watch. */
  onEnd?: ((end: HandoverEnd) => Promise<string | undefined>) | undefined;
};

/** Shows what the agent needs a person for in its browser, and the buttons that take control and end the handover. */
export function HandoverCard({ handover, hasControl, onTake, onEnd }: CardProps) {
  const { id, body, agentName, expiresAt } = handover;
  const now = useNow(30_000, expiresAt !== null);
  const titleId = `handover-${id}`;
  return (
    <section
      aria-labelledby={titleId}
      className="flex shrink-0 flex-col gap-2 rounded-lg border border-warn/40 bg-warn-soft p-3"
    >
      <h2 id={titleId} dir="auto" className="flex gap-2 font-medium text-base [overflow-wrap:anywhere]">
        <Hand aria-hidden className="mt-[3px] size-4 shrink-0 text-warn" />
        {body}
      </h2>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        {agentName === undefined ? "The agent" : `The sub-agent ${agentName}`} needs a person in its browser.
        While it waits, only the person who has control sees the page, and no pictures are kept. The agent is
        told which fields changed, not what you type.
      </p>
      {onEnd && <Ending hasControl={hasControl} onTake={onTake} onEnd={onEnd} />}
      <p className="text-soft text-xs">
        {!onEnd && "Waits for a person who may take control. "}
        {now !== null && expiresAt !== null && `Open ${formatUntil(expiresAt, now)}`}
      </p>
    </section>
  );
}

function Ending({
  hasControl,
  onTake,
  onEnd,
}: Pick<CardProps, "hasControl" | "onTake"> & Required<Pick<CardProps, "onEnd">>) {
  const [note, setNote] = useState("");
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  async function finish(end: HandoverEnd): Promise<void> {
    setSending(true);
    setFailure(undefined);
    setFailure(await onEnd?.(end));
    setSending(false);
  }
  const text = note.trim();
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {failure && (
        <p role="alert" className="w-full text-bad text-sm">
          {failure}
        </p>
      )}
      <Input
        dir="auto"
        aria-label="Note to the agent"
        placeholder="Note to the agent (optional)"
        value={note}
        maxLength={1_000}
        onChange={(event) => setNote(event.target.value)}
      />
      <Button variant="ghost" disabled={isSending} onClick={() => finish({ decline: true })}>
        Cannot do it
      </Button>
      <Button
        variant={hasControl ? "primary" : "outline"}
        disabled={isSending}
        onClick={() => finish({ done: true, ...(text !== "" && { note: text }) })}
      >
        Done
      </Button>
      {!hasControl && (
        <Button variant="primary" onClick={onTake}>
          Take control
        </Button>
      )}
    </div>
  );
}
