"use client";

import { FileDown } from "lucide-react";
import type { EvidencePointer } from "#lib/page/state/view-types.ts";
import { EvidencePicture, isPicture } from "../../runtime/evidence-picture.tsx";
import { useSession } from "../../runtime/session-context.tsx";

/**
 * Shows the evidence of a tool call: small pictures, and saved pages to download. The space of a picture is reserved
 * before it loads.
 */
export function EvidenceStrip({ evidence }: { evidence: EvidencePointer[] }) {
  const { paths } = useSession();
  if (evidence.length === 0) return null;
  const pictures = evidence.filter(isPicture);
  const files = evidence.filter((piece) => !isPicture(piece));
  return (
    <div className="mt-1 mb-2 flex flex-col items-start gap-2 pl-6">
      {pictures.length > 0 && (
        <div className="flex max-w-full gap-2 overflow-x-auto">
          {pictures.map((picture) => (
            <EvidencePicture key={picture.id} evidence={picture} className="h-24 w-40" />
          ))}
        </div>
      )}
      {files.map((file) => (
        <a
          key={file.id}
          href={`${paths.artifacts}/${file.id}`}
          download
          title={file.title}
          className="inline-flex h-7 max-w-full items-center gap-2 rounded-md border bg-surface px-2 text-soft text-xs hover:bg-hover hover:text-ink"
        >
          <FileDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          <span className="sr-only">Download: </span>
          <span className="truncate">{file.title}</span>
        </a>
      ))}
    </div>
  );
}
