"use client";

import { useState } from "react";
import type { CheckedPage, EvidencePointer } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { useStoredAddress } from "../../runtime/use-stored-address.ts";
import { cn } from "../../ui/cn.ts";

/**
 * The class that reserves the aspect ratio of a picture at each width, so that the layout does not move when the
 * picture loads.
 */
const SHAPES: Record<CheckedPage["viewport"], string> = {
  desktop: "[aspect-ratio:auto_1280/800]",
  tablet: "[aspect-ratio:auto_820/1180]",
  phone: "[aspect-ratio:auto_390/844]",
};

/** Shows a picture of a check, or the reason why the picture is missing. */
export function CheckPicture({
  evidence,
  viewport,
  alt,
  className,
}: {
  evidence: EvidencePointer | null;
  viewport: CheckedPage["viewport"];
  alt: string;
  className?: string;
}) {
  const { paths } = useSession();
  const [brokenId, setBrokenId] = useState<string | null>(null);
  const address = useStoredAddress(evidence && `${paths.artifacts}/${evidence.id}`);
  if (evidence === null || brokenId === evidence.id) {
    return (
      <span
        className={cn(
          SHAPES[viewport],
          "flex w-full items-center justify-center bg-sunken px-4 text-center text-faint text-sm",
          className,
        )}
      >
        {evidence === null ? `${alt}: the check took no picture` : `${alt}: the picture could not be loaded`}
      </span>
    );
  }
  return (
    // biome-ignore lint/performance/noImgElement: the artifact needs the cookie, and is shown as it was taken
    <img
      src={address}
      alt={alt}
      decoding="async"
      draggable={false}
      onError={() => setBrokenId(evidence.id)}
      className={cn("block w-full bg-sunken", SHAPES[viewport], className)}
    />
  );
}
