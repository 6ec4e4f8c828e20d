"use client";

import { Images } from "lucide-react";
import { describePreview } from "#lib/page/labels/describe-preview.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { Preview } from "#lib/page/state/view-types.ts";
import { EvidencePicture } from "../runtime/evidence-picture.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { EmptyNote } from "../ui/empty-note.tsx";
import { Age } from "../ui/time.tsx";

/**
 * Shows the previews that the agent prepared. A preview is a picture of a page, with or without the changes of a
 * variant. If there is no picture, shows the error instead, or a note that the picture was not taken yet.
 */
export function PreviewsTab() {
  const { previews } = useSession();
  if (previews.length === 0) {
    return (
      <EmptyNote icon={<Images />} title="No previews">
        Pictures that the agent prepares for you appear here.
      </EmptyNote>
    );
  }
  return (
    <ul
      aria-label="Previews"
      className="grid grid-cols-2 gap-4 p-4 sm:grid-cols-[repeat(auto-fill,minmax(208px,1fr))]"
    >
      {previews.map((preview, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: previews are replaced as a set, and two may be equal
        <li key={index} className="min-w-0">
          <PreviewPicture preview={preview} />
          <PreviewFacts preview={preview} />
        </li>
      ))}
    </ul>
  );
}

function PreviewPicture({ preview: { evidence, error, title } }: { preview: Preview }) {
  if (evidence) {
    const picture = { ...evidence, title };
    return <EvidencePicture key={evidence.id} evidence={picture} className="block aspect-[16/10] w-full" />;
  }
  return (
    <p className="flex aspect-[16/10] w-full items-center justify-center overflow-auto rounded-md border bg-sunken px-3 text-center text-sm [overflow-wrap:anywhere]">
      {error ? <span className="text-bad">{error}</span> : <span className="text-faint">No picture yet</span>}
    </p>
  );
}

function PreviewFacts({ preview }: { preview: Preview }) {
  const { title, caption, variant, url, takenAt } = preview;
  const words = describePreview(preview);
  return (
    <div className="mt-1.5 text-xs">
      <p dir="auto" className="line-clamp-2 text-sm [overflow-wrap:anywhere]" title={title}>
        {title}
      </p>
      {caption && (
        <p dir="auto" className="line-clamp-3 text-soft [overflow-wrap:anywhere]" title={caption}>
          {caption}
        </p>
      )}
      <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-faint">
        <Badge tone={variant === null ? "quiet" : "busy"} className="max-w-full">
          <span className="truncate">{words.subject}</span>
        </Badge>
        <span>{words.viewport}</span>
        {takenAt && <Age iso={takenAt} />}
      </p>
      <p className="truncate text-faint" title={url}>
        {formatAddress(url)}
      </p>
    </div>
  );
}
