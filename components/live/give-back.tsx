"use client";

import { Popover } from "radix-ui";
import { type FormEvent, useId, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Textarea } from "#components/ui/field.tsx";
import { GiveBackButton } from "./give-back-button.tsx";

const NOTE_MAX = 1_000;

/** Shows the button that gives control back, and below it a small form with an optional note, which is open at first. */
export function GiveBack({ onGiveBack }: { onGiveBack: (note: string) => void }) {
  const id = useId();
  const [note, setNote] = useState("");

  function submit(event: FormEvent): void {
    event.preventDefault();
    onGiveBack(note.trim());
  }
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger asChild>
        <GiveBackButton />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Give control back"
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-80 max-w-[calc(100vw-16px)] rounded-lg border border-line bg-raised p-3 shadow-(color:--shadow-color) shadow-xl outline-none"
        >
          <form onSubmit={submit} className="flex flex-col gap-3">
            <Field id={id} label="Note to the agent" hint="Optional. The agent reads it before it continues.">
              <Textarea
                id={id}
                value={note}
                rows={2}
                maxLength={NOTE_MAX}
                aria-describedby={`${id}-note`}
                className="max-h-40 text-sm"
                onChange={(event) => setNote(event.target.value)}
              />
            </Field>
            <Button type="submit" variant="primary" className="self-end">
              Give back
            </Button>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
