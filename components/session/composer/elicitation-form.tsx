"use client";

import { CircleHelp } from "lucide-react";
import { type FormEvent, useState } from "react";
import { formatUntil } from "#lib/page/labels/format.ts";
import { type FormValues, readForm, readKeptValues, startValues } from "#lib/page/state/form-values.ts";
import type {
  ElicitationAnswer,
  ElicitationView,
  ElicitationForm as FormOf,
  FormValue,
} from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { useNow } from "../../ui/use-now.ts";
import { FormFieldInput } from "./form-field-input.tsx";
import { useDraft } from "./use-draft.ts";

/** Shows the open questions of the agent, each with a form for the answer. Viewers see only the questions. */
export function ElicitationForms({ onReplied }: { onReplied: () => void }) {
  const { elicitations } = useSession();
  if (elicitations.length === 0) return null;
  return (
    <div className="flex min-h-24 scroll-pb-16 flex-col gap-2 overflow-y-auto overscroll-contain">
      {elicitations.map((each) => (
        <ElicitationForm key={each.elicitationId} elicitation={each} onReplied={onReplied} />
      ))}
    </div>
  );
}

type ReplyProps = {
  elicitation: ElicitationView;
  /** Called when the service has accepted the reply and before the form disappears. */
  onReplied: () => void;
};

function ElicitationForm({ elicitation, onReplied }: ReplyProps) {
  const { role } = useSession();
  const id = `question-${elicitation.elicitationId}`;
  return (
    <section
      aria-labelledby={id}
      className="flex flex-col gap-3 rounded-lg border border-warn/40 bg-warn-soft px-3 pt-3"
    >
      <p id={id} dir="auto" className="flex gap-2 whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
        <CircleHelp aria-hidden className="mt-[3px] size-4 shrink-0 text-warn" />
        {elicitation.question}
      </p>
      {role === "drive" &&
        (elicitation.form ? (
          <FieldsReply elicitation={elicitation} form={elicitation.form} onReplied={onReplied} />
        ) : (
          <TextReply elicitation={elicitation} questionId={id} onReplied={onReplied} />
        ))}
    </section>
  );
}

/** Returns a function that sends a reply to a question. `failure` is the error of the last attempt. */
function useReply({ elicitation: { elicitationId }, onReplied }: ReplyProps) {
  const { store, actions, drafts } = useRuntime();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  async function reply(answer: { answer: ElicitationAnswer } | { decline: true }): Promise<void> {
    setSending(true);
    setFailure(null);
    const outcome = await actions.answer(elicitationId, answer);
    setSending(false);
    if (!outcome.isDone) return setFailure(outcome.error);
    drafts.writeAnswer(elicitationId, undefined);
    onReplied();
    store.removeElicitation(elicitationId);
  }
  return { reply, isSending, failure };
}

function TextReply({ elicitation, onReplied, questionId }: ReplyProps & { questionId: string }) {
  const { options } = elicitation;
  const { reply, isSending, failure } = useReply({ elicitation, onReplied });
  const { elicitationId } = elicitation;
  const { drafts } = useRuntime();
  const [text, setText] = useDraft(
    () => readText(drafts.readAnswer(elicitationId)),
    (written) => drafts.writeAnswer(elicitationId, written === "" ? undefined : written),
    () => "",
  );
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (text.trim() !== "") void reply({ answer: text.trim() });
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      {options && (
        <div className="flex flex-wrap gap-2">
          {options.map((option) => (
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
      <Input
        dir="auto"
        aria-labelledby={questionId}
        value={text}
        maxLength={100_000}
        placeholder={options ? "Or answer in your own words" : "Answer"}
        onChange={(event) => setText(event.target.value)}
      />
      <ReplyButtons
        elicitation={elicitation}
        isSending={isSending}
        isEmpty={text.trim() === ""}
        failure={failure}
        onDecline={() => reply({ decline: true })}
      />
    </form>
  );
}

const readText = (kept: unknown): string | undefined => (typeof kept === "string" ? kept : undefined);

function FieldsReply({ elicitation, onReplied, form }: ReplyProps & { form: FormOf }) {
  const { reply, isSending, failure } = useReply({ elicitation, onReplied });
  const { elicitationId } = elicitation;
  const { drafts } = useRuntime();
  const [values, setValues] = useDraft<FormValues>(
    () => readKeptValues(form, drafts.readAnswer(elicitationId)),
    (written) => drafts.writeAnswer(elicitationId, written),
    () => startValues(form),
  );
  const [problems, setProblems] = useState<Record<string, string>>({});
  const id = `form-${elicitation.elicitationId}`;

  function change(name: string, value: FormValue | undefined): void {
    setValues((current) => ({ ...current, [name]: value }));
    setProblems(({ [name]: _, ...others }) => others);
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    const { answer, problems: found } = readForm(form, values);
    setProblems(found);
    const [first] = Object.keys(found);
    if (first === undefined) return void reply({ answer });
    document.getElementById(`${id}-${Object.keys(form.properties).indexOf(first)}`)?.focus();
  }

  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3">
      {Object.entries(form.properties).map(([name, field], index) => (
        <FormFieldInput
          key={name}
          id={`${id}-${index}`}
          name={name}
          field={field}
          isRequired={form.required.includes(name)}
          value={values[name]}
          problem={problems[name]}
          onChange={(value) => change(name, value)}
        />
      ))}
      <ReplyButtons
        elicitation={elicitation}
        isSending={isSending}
        isEmpty={false}
        failure={failure}
        onDecline={() => reply({ decline: true })}
      />
    </form>
  );
}

function OpenFor({ until }: { until: string }) {
  const now = useNow(30_000, true);
  return (
    <span className="flex-1 text-soft text-xs">{now !== null && `Open ${formatUntil(until, now)}`}</span>
  );
}

function ReplyButtons({
  elicitation,
  isSending,
  isEmpty,
  failure,
  onDecline,
}: {
  elicitation: ElicitationView;
  isSending: boolean;
  isEmpty: boolean;
  failure: string | null;
  onDecline: () => void;
}) {
  return (
    // Stays at the lower edge while the fields scroll.
    <div className="sticky bottom-0 -mx-3 flex flex-col gap-2 rounded-b-lg bg-warn-soft px-3 pt-2 pb-3">
      {failure && (
        <p role="alert" className="text-bad text-sm">
          {failure}
        </p>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <OpenFor until={elicitation.expiresAt} />
        <Button variant="ghost" disabled={isSending} onClick={onDecline}>
          Decline
        </Button>
        <Button type="submit" variant="primary" disabled={isSending || isEmpty}>
          Answer
        </Button>
      </div>
    </div>
  );
}
