import { CircleHelp } from "lucide-react";
import { describeAnswer } from "#lib/page/labels/describe-answer.ts";
import type { QuestionView } from "#lib/page/state/view-types.ts";

/** Shows a question of the agent with the answer that it got. */
export function QuestionItem({ question }: { question: QuestionView }) {
  const { note, answers } = describeAnswer(question);
  return (
    <article aria-label="Question" className="rounded-lg border bg-surface px-3 py-2">
      <p dir="auto" className="flex gap-2 whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
        <CircleHelp aria-hidden className="mt-[3px] size-4 shrink-0 text-warn" />
        {question.question}
      </p>
      {answers.length > 0 && (
        <dl className="mt-1 flex flex-col gap-0.5 border-t pt-1 text-sm">
          {answers.map(({ name, value }) => (
            <div key={name} className="flex flex-wrap gap-x-2">
              <dt className="text-faint">{name}</dt>
              <dd dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
                {value}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {note && <p className="mt-1 text-faint text-xs">{note}</p>}
    </article>
  );
}
