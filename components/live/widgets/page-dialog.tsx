"use client";

import { type FormEvent, useId, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Input } from "#components/ui/field.tsx";
import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";

type Dialog = Extract<Widget, { kind: "dialog" }>;

/** Shows a dialog of the live page: its text, marked as the page's, and the answers. */
export function PageDialog({ widget, answer }: { widget: Dialog; answer: (given: WidgetAnswer) => void }) {
  const { dialog, host, message, defaultText, mayMute } = widget;
  const [text, setText] = useState(defaultText);
  const [isMuted, setMuted] = useState(false);
  const id = useId();
  const { accept, dismiss } = BUTTONS[dialog];
  const reply = (isAccepted: boolean) =>
    answer({
      kind: "dialog",
      isAccepted,
      ...(dialog === "prompt" && isAccepted && { text }),
      ...(isMuted && { isMuted }),
    });
  function submit(event: FormEvent): void {
    event.preventDefault();
    reply(true);
  }

  return (
    <form
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onSubmit={submit}
      className="flex max-h-full w-full max-w-md flex-col gap-3 overflow-auto rounded-xl border bg-raised p-4 shadow-(color:--shadow-color) shadow-lg"
    >
      <p id={`${id}-title`} className="break-words font-medium text-sm">
        {dialog === "beforeunload" ? "Leave this page?" : `${host || "The page"} says`}
      </p>
      <p
        id={`${id}-text`}
        className="max-h-60 overflow-auto whitespace-pre-wrap break-words border-l-2 border-line-strong pl-3 text-sm"
      >
        {dialog === "beforeunload" ? `Changes on ${host || "the page"} may not be saved.` : message}
      </p>
      {dialog === "prompt" && (
        <Input
          aria-label="Answer to the page"
          value={text}
          maxLength={10_000}
          autoFocus
          onFocus={(event) => event.target.select()}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {mayMute && (
        <label className="flex items-center gap-2 text-sm text-soft">
          <input type="checkbox" checked={isMuted} onChange={(event) => setMuted(event.target.checked)} />
          Show no more dialogs of this page
        </label>
      )}
      <div className="flex justify-end gap-2">
        {dismiss && <Button onClick={() => reply(false)}>{dismiss}</Button>}
        <Button type="submit" variant="primary" autoFocus={dialog !== "prompt"}>
          {accept}
        </Button>
      </div>
    </form>
  );
}

const BUTTONS: Record<Dialog["dialog"], { accept: string; dismiss?: string }> = {
  alert: { accept: "OK" },
  confirm: { accept: "OK", dismiss: "Cancel" },
  prompt: { accept: "OK", dismiss: "Cancel" },
  beforeunload: { accept: "Leave", dismiss: "Stay" },
};
