"use client";

import type { EvidencePointer } from "#lib/api/client/types.ts";
import { EvidencePicture, isPicture } from "./evidence-picture.tsx";

/** Pictures a tool kept, small, under its line. Their room is there before they are loaded. */
export function EvidenceStrip({ evidence }: { evidence: EvidencePointer[] }) {
  const pictures = evidence.filter(isPicture);
  if (pictures.length === 0) return null;
  return (
    <div className="mt-1 mb-2 flex gap-2 overflow-x-auto pl-6">
      {pictures.map((picture) => (
        <EvidencePicture key={picture.id} evidence={picture} className="h-24 w-40" />
      ))}
    </div>
  );
}
