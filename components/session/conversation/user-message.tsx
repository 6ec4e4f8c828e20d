import { CornerDownRight } from "lucide-react";
import { ClockTime } from "../../ui/time.tsx";

/** Shows a message of a person or a program. */
export function UserMessage({
  text,
  author,
  createdAt,
  isSteer,
}: {
  text: string;
  author: string | null;
  createdAt: string;
  /** Whether the message steered a turn: it did not start a turn, but reached the agent during one. */
  isSteer: boolean;
}) {
  return (
    <article aria-label="Request" className="rounded-lg border bg-surface px-3 py-2">
      <p dir="auto" className="whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
        {text}
      </p>
      <p className="mt-1 flex items-baseline justify-between gap-4 text-faint text-xs">
        <span className="truncate">
          {isSteer && <CornerDownRight aria-hidden className="mr-1 inline size-3.5 align-[-3px]" />}
          {isSteer ? `${author ? `${author} · ` : ""}Steered the turn` : (author ?? "Request")}
        </span>
        <ClockTime iso={createdAt} />
      </p>
    </article>
  );
}
