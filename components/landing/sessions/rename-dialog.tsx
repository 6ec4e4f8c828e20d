"use client";

import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, Input } from "#components/ui/field.tsx";
import { renameSession } from "#lib/page/actions/home-actions.ts";
import type { SessionSummary } from "#lib/page/state/view-types.ts";

/** Shows the dialog that gives a session another title. */
export function RenameDialog({
  session,
  onClose,
  onDone,
}: {
  session: SessionSummary;
  onClose: () => void;
  onDone: (sentence: string) => void;
}) {
  const [title, setTitle] = useState(session.title);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (title.trim() === "") return setProblem("Write a title.");
    setBusy(true);
    const outcome = await renameSession(session.id, title.trim());
    setBusy(false);
    if (outcome.isDone) onDone(`The session is called “${outcome.answer.title}” now.`);
    else setProblem(outcome.error);
  }
  return (
    <Dialog isOpen onOpenChange={onClose} title="Rename the session">
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-4">
        <Field id="session-title" label="Title" error={problem}>
          <Input
            id="session-title"
            dir="auto"
            value={title}
            maxLength={200}
            aria-invalid={problem !== undefined}
            aria-describedby={problem && "session-title-note"}
            onFocus={(event) => event.target.select()}
            onChange={(event) => {
              setTitle(event.target.value);
              setProblem(undefined);
            }}
          />
        </Field>
        <div className="flex justify-end gap-2">
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" disabled={isBusy}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
