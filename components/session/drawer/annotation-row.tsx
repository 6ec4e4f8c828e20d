import { Check, RotateCcw, Send, Trash2 } from "lucide-react";
import type { AnnotationActions } from "#lib/page/actions/annotation-actions.ts";
import type { ActionOutcome } from "#lib/page/actions/call-action.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { AnnotationView } from "#lib/page/state/view-types.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Age } from "../../ui/time.tsx";

const STATUSES = {
  open: { name: "Open", tone: "attention" },
  sent: { name: "Sent to the agent", tone: "busy" },
  resolved: { name: "Resolved", tone: "good" },
  lost: { name: "Not on the page", tone: "bad" },
} as const;

/** Where the element of a note is. `frame` is not validated, because callers of the webhook may add any field. */
const placeOf = ({ frame, selector }: NonNullable<AnnotationView["annotations"]>[number]) =>
  typeof frame === "string" && frame !== "" ? `${frame} → ${selector}` : selector;

/** Shows an annotation with its status, and what the visitor can do with it. */
export function AnnotationRow({
  annotation,
  number,
  mayChange,
  mayDirect,
  isBusy,
  act,
  send,
}: {
  annotation: AnnotationView;
  /** Its number in the list, which its pin on the page has, too. */
  number: number;
  mayChange: boolean;
  mayDirect: boolean;
  isBusy: boolean;
  act: (what: (actions: AnnotationActions) => Promise<ActionOutcome<unknown>>) => Promise<unknown>;
  send: (ids: string[]) => Promise<void>;
}) {
  const { id, status, resolution, resolvedBy, output, event, url, createdAt } = annotation;
  const notes = annotation.annotations ?? [];
  const { name, tone } = STATUSES[status];
  const isOpen = status === "open" || status === "lost";
  return (
    <article className="flex flex-col gap-2">
      <div className="flex min-h-6 items-center gap-1">
        <span className="min-w-5 text-faint text-xs tabular-nums">
          <span className="sr-only">Annotation </span>
          {number}
        </span>
        <Badge tone={tone}>{name}</Badge>
        <span className="flex-1" />
        {mayDirect && isOpen && (
          <IconButton
            label="Send to the agent"
            size="icon-sm"
            disabled={isBusy}
            onClick={() => void send([id])}
          >
            <Send />
          </IconButton>
        )}
        {mayChange && status !== "resolved" && (
          <IconButton
            label="Resolve"
            size="icon-sm"
            disabled={isBusy}
            onClick={() => void act((actions) => actions.setStatus(id, "resolved"))}
          >
            <Check />
          </IconButton>
        )}
        {mayChange && !isOpen && (
          <IconButton
            label="Reopen"
            size="icon-sm"
            disabled={isBusy}
            onClick={() => void act((actions) => actions.setStatus(id, "open"))}
          >
            <RotateCcw />
          </IconButton>
        )}
        {mayDirect && (
          <IconButton
            label="Remove"
            size="icon-sm"
            disabled={isBusy}
            onClick={() => void act((actions) => actions.remove(id))}
          >
            <Trash2 />
          </IconButton>
        )}
      </div>
      {notes.map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the notes of a stored annotation never move
        <div key={index} className="min-w-0">
          {typeof note.quote === "string" && (
            <p dir="auto" className="truncate text-soft text-sm" title={note.quote}>
              “{note.quote}”
            </p>
          )}
          <p dir="auto" className="whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
            {note.comment ?? "No comment"}
          </p>
          {note.selector && (
            <p className="truncate font-mono text-faint text-xs" title={placeOf(note)}>
              {placeOf(note)}
            </p>
          )}
        </div>
      ))}
      {notes.length === 0 && (
        <p className="whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">{output ?? event}</p>
      )}
      {resolution !== null && (
        <p className="whitespace-pre-wrap border-line-strong border-l-2 pl-2 text-sm text-soft [overflow-wrap:anywhere]">
          <span className="text-faint">{resolvedBy === "agent" ? "Agent: " : ""}</span>
          {resolution}
        </p>
      )}
      <p className="flex justify-between gap-4 text-faint text-xs">
        <span className="truncate">{url && formatAddress(url)}</span>
        <Age iso={createdAt} />
      </p>
    </article>
  );
}
