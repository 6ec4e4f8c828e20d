"use client";

import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { type Deletion, deleteSession } from "#lib/page/actions/home-actions.ts";
import type { SessionSummary } from "#lib/page/state/view-types.ts";

const RUNNING: readonly SessionSummary["state"][] = [
  "starting",
  "working",
  "waiting",
  "compacting",
  "retrying",
];

/** Shows the dialog that deletes a session after a confirmation. */
export function DeleteDialog({
  session,
  onClose,
  onDone,
}: {
  session: SessionSummary;
  onClose: () => void;
  onDone: (sentence: string) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function remove(): Promise<void> {
    setBusy(true);
    const outcome = await deleteSession(session.id);
    setBusy(false);
    if (outcome.isDone) return onDone(describeDeletion(session.title, outcome.answer));
    // Status 404 means that the session was deleted before, for example in another tab.
    if (outcome.status === 404) return onDone(`“${session.title}” was already deleted.`);
    setProblem(outcome.error);
  }
  return (
    <Dialog isOpen onOpenChange={onClose} title="Delete the session?">
      <div className="flex flex-col gap-4 text-sm">
        <p dir="auto" className="font-medium [overflow-wrap:anywhere]">
          {session.title}
        </p>
        <p className="text-soft">
          {RUNNING.includes(session.state) && "This stops the agent. "}
          The conversation, results, files, evidence and share links are deleted permanently. You cannot undo
          this. Published variants and landing pages stay published.
        </p>
        {problem !== undefined && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={isBusy} onClick={() => void remove()} className="text-bad">
            {isBusy ? "Deleting" : "Delete permanently"}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Says what was deleted, and what was not. */
function describeDeletion(title: string, { pending, publications, pages }: Deletion): string {
  const published = publications.length + pages.length;
  return [
    `“${title}” was deleted.`,
    ...(pending.length > 0 ? ["Some of its data, such as files, is still being removed."] : []),
    ...(published > 0 ? ["What it published stays published."] : []),
  ].join(" ");
}
