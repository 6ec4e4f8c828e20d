"use client";

import { MessageSquareText } from "lucide-react";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { AnnotationView } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { Age } from "../../ui/time.tsx";

/** Shows the annotations that people made in the live browser. */
export function AnnotationsTab() {
  const { annotations } = useSession();
  if (annotations.length === 0) {
    return (
      <EmptyNote icon={<MessageSquareText />} title="No annotations yet">
        Use the annotation button in the live page: pick an element, write a comment, submit.
      </EmptyNote>
    );
  }
  return (
    <ol className="divide-y">
      {annotations.toReversed().map((annotation) => (
        <li key={annotation.id} className="px-4 py-3">
          <Annotation annotation={annotation} />
        </li>
      ))}
    </ol>
  );
}

/** Where the element of a note is. `frame` is not validated, because callers of the webhook may add any field. */
const placeOf = ({ frame, selector }: NonNullable<AnnotationView["annotations"]>[number]) =>
  typeof frame === "string" && frame !== "" ? `${frame} → ${selector}` : selector;

function Annotation({ annotation }: { annotation: AnnotationView }) {
  const notes = annotation.annotations ?? [];
  return (
    <article className="flex flex-col gap-2">
      {notes.map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the notes of a stored annotation never move
        <div key={index} className="min-w-0">
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
        <p className="whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
          {annotation.output ?? annotation.event}
        </p>
      )}
      <p className="flex justify-between gap-4 text-faint text-xs">
        <span className="truncate">{annotation.url && formatAddress(annotation.url)}</span>
        <Age iso={annotation.createdAt} />
      </p>
    </article>
  );
}
