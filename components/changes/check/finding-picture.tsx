"use client";

import { useState } from "react";
import type { EvidencePointer } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { useStoredAddress } from "../../runtime/use-stored-address.ts";

/** Shows the picture of a finding: the part of the page that the finding is about, as visitors see it. */
export function FindingPicture({ evidence }: { evidence: EvidencePointer }) {
  const { paths } = useSession();
  const address = useStoredAddress(`${paths.artifacts}/${evidence.id}`);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p className="text-faint text-xs">The picture could not be loaded.</p>;
  return (
    // biome-ignore lint/performance/noImgElement: the artifact needs the cookie, and is shown as it was taken
    <img
      src={address}
      alt="What visitors see"
      loading="lazy"
      decoding="async"
      onError={() => setBroken(true)}
      className="block max-h-60 max-w-full self-start rounded-md border bg-sunken object-contain"
    />
  );
}
