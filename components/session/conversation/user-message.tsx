import { CornerDownRight } from "lucide-react";
import type { AttachmentPart } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { AttachedFiles } from "../../files/attached-files.tsx";
import { EvidencePicture } from "../../runtime/evidence-picture.tsx";
import { ClockTime } from "../../ui/time.tsx";
import { MessageCopy } from "./message-copy.tsx";

/** Shows a message of a person or a program. */
export function UserMessage({
  text,
  attachments,
  annotationCount,
  annotationPictures,
  author,
  createdAt,
  isSteer,
}: {
  text: string;
  attachments: readonly AttachmentPart[];
  /** How many annotations were sent with the message. */
  annotationCount: number;
  /** The evidence with the pictures of the page at these annotations. */
  annotationPictures: readonly string[];
  author: string | null;
  createdAt: string;
  /** Whether the message steered a turn: it did not start a turn, but reached the agent during one. */
  isSteer: boolean;
}) {
  return (
    <article aria-label="Request" className="group/copy relative rounded-lg border bg-surface px-3 py-2">
      {text !== "" && (
        <>
          <MessageCopy text={text} className="top-1 right-1 rounded-md bg-surface" />
          <p dir="auto" className="whitespace-pre-wrap text-base [overflow-wrap:anywhere]">
            {text}
          </p>
        </>
      )}
      <AttachedFiles attachments={attachments} />
      {annotationCount > 0 && (
        <div className="flex flex-wrap items-end gap-2 text-soft text-sm">
          <p className="w-full">With {countOf(annotationCount, "annotation")}</p>
          {annotationPictures.map((id) => (
            <EvidencePicture
              key={id}
              evidence={{
                id,
                kind: "screenshot",
                title: "The page at an annotation",
                url: null,
                mediaType: "image/jpeg",
              }}
              className="block h-20 w-28"
            />
          ))}
        </div>
      )}
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
