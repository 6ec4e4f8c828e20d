"use client";

import { FileDown, Images } from "lucide-react";
import { formatAddress } from "#lib/page/labels/format.ts";
import { EvidencePicture, isPicture } from "../../runtime/evidence-picture.tsx";
import { useSession } from "../../runtime/session-context.tsx";
import { EmptyNote } from "../../ui/empty-note.tsx";

/** Shows the pictures and saved pages of the tool calls whose results the page has loaded, oldest first. */
export function EvidenceTab() {
  const { toolCalls, paths } = useSession();
  const evidence = Object.values(toolCalls)
    .toSorted((one, other) => one.startedAt.localeCompare(other.startedAt))
    .flatMap((call) => call.evidence);
  if (evidence.length === 0) {
    return (
      <EmptyNote icon={<Images />} title="No evidence yet">
        Screenshots, previews and saved pages appear here.
      </EmptyNote>
    );
  }
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(176px,1fr))] gap-4 p-4">
      {evidence.map((piece) => (
        <li key={piece.id} className="min-w-0">
          {isPicture(piece) ? (
            <EvidencePicture evidence={piece} className="block aspect-[16/10] w-full" />
          ) : (
            <a
              href={`${paths.artifacts}/${piece.id}`}
              download
              aria-label={`Download: ${piece.title}`}
              className="flex aspect-[16/10] w-full flex-col items-center justify-center gap-2 rounded-md border bg-sunken text-soft text-xs hover:border-line-strong hover:text-ink"
            >
              <FileDown aria-hidden className="size-5" />
              {piece.kind === "html" ? "Saved page" : piece.mediaType}
            </a>
          )}
          <p className="mt-1 truncate text-sm" title={piece.title}>
            {piece.title}
          </p>
          <p className="truncate text-faint text-xs">{piece.url ? formatAddress(piece.url) : piece.kind}</p>
        </li>
      ))}
    </ul>
  );
}
