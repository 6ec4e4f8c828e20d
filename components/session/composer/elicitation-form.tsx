"use client";

import { CircleHelp } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ElicitationView } from "#lib/page/state/view-types.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { useRuntime, useSession } from "../session-context.tsx";

/** An open question of the agent, with a form for the answer. */
export function ElicitationForm({ elicitation }: { elicitation: ElicitationView }) {
  const { store, actions } = useRuntime();
  const { role } = useSession();
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const id = `question-${elicitation.elicitationId}`;

  async function reply(answer: { answer: string } | { decline: true }): Promise<void> {
    setSending(true);
    setError(null);
    const outcome = await actions.answer(elicitation.elicitationId, answer);
    setSending(false);
    if (outcome.isDone) store.noteElicitationAnswered(elicitation.elicitationId);
    else setError(outcome.error);
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (text.trim() !== "") void reply({ answer: text.trim() });
  }

  return (
    <form
      onSubmit={submit}
      className="flex min-h-0 flex-col gap-2 overflow-y-auto rounded-lg border border-warn/40 bg-warn-soft p-3"
    >
      <p id={id} dir="auto" className="flex gap-2 whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
        <CircleHelp aria-hidden className="mt-[3px] size-4 shrink-0 text-warn" />
        {elicitation.question}
      </p>
      {role === "drive" && (
        <>
          {elicitation.options && (
            <div className="flex flex-wrap gap-2">
              {elicitation.options.map((option) => (
                <Button
                  key={option}
                  disabled={isSending}
                  className="h-auto min-h-8 max-w-full whitespace-normal py-1 text-left"
                  onClick={() => reply({ answer: option })}
                >
                  {option}
                </Button>
              ))}
            </div>
          )}
          <div className="flex flex-wrap justify-end gap-2">
            <Input
              dir="auto"
              className="flex-1 max-sm:basis-full"
              aria-labelledby={id}
              value={text}
              placeholder={elicitation.options ? "Or answer in your own words" : "Answer"}
              onChange={(event) => setText(event.target.value)}
            />
            <Button type="submit" variant="primary" disabled={isSending || text.trim() === ""}>
              Answer
            </Button>
            <Button variant="ghost" disabled={isSending} onClick={() => reply({ decline: true })}>
              Decline
            </Button>
          </div>
        </>
      )}
      {error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
    </form>
  );
}
