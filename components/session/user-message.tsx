import { ClockTime } from "#components/ui/time.tsx";

/** Something a person, or a program on someone's behalf, asked for. */
export function UserMessage({
  text,
  author,
  createdAt,
}: {
  text: string;
  author: string | null;
  createdAt: string;
}) {
  return (
    <article aria-label="Request" className="rounded-lg border bg-surface px-3 py-2">
      <p dir="auto" className="whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
        {text}
      </p>
      <p className="mt-1 flex items-baseline justify-between gap-4 text-faint text-xs">
        <span className="truncate">{author ?? "Request"}</span>
        <ClockTime iso={createdAt} />
      </p>
    </article>
  );
}
