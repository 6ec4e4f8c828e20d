"use client";

import { useState } from "react";
import type { EvidencePointer } from "#lib/page/state/view-types.ts";
import { cn } from "../ui/cn.ts";
import { lazily } from "../ui/lazily.tsx";
import { useEver } from "../ui/use-ever.ts";
import { useSession } from "./session-context.tsx";
import { useStoredAddress } from "./use-stored-address.ts";

const PictureDialog = lazily(async () => (await import("./picture-dialog.tsx")).PictureDialog);

/** Whether a piece of evidence can be shown as a picture. */
export const isPicture = ({ mediaType }: EvidencePointer): boolean => mediaType.startsWith("image/");

/**
 * Shows a picture from the session's evidence. A click opens the picture at its full size. Works only on the session
 * page.
 */
export function EvidencePicture({
  evidence,
  artifacts,
  className,
}: {
  evidence: EvidencePointer;
  /** Path below which the artifacts are served; by default the path of the session's artifacts. */
  artifacts?: string;
  className?: string;
}) {
  const { paths } = useSession();
  const source = `${artifacts ?? paths.artifacts}/${evidence.id}`;
  return <StoredPicture source={source} evidence={evidence} className={className} />;
}

/** Shows a stored picture. A click opens the picture at its full size. Works on every page. */
export function StoredPicture({
  source,
  evidence,
  className,
}: {
  source: string;
  evidence: EvidencePointer;
  className?: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const wasOpen = useEver(isOpen);
  const [isBroken, setBroken] = useState(false);
  const address = useStoredAddress(source);
  const alt = evidence.title || "Screenshot";
  if (isBroken) {
    return (
      <span
        className={cn(
          "flex shrink-0 items-center justify-center rounded-md border bg-sunken px-2 text-center text-faint text-xs",
          className,
        )}
      >
        The picture could not be loaded
      </span>
    );
  }
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-label={`Open picture: ${alt}`}
        className={cn(
          "shrink-0 overflow-hidden rounded-md border bg-sunken hover:border-line-strong",
          className,
        )}
      >
        {/* biome-ignore lint/performance/noImgElement: the artifact needs the cookie, and is shown as it was taken */}
        <img
          src={address}
          alt={alt}
          loading="lazy"
          decoding="async"
          onError={() => setBroken(true)}
          className="size-full object-cover object-top"
        />
      </button>
      {wasOpen && (
        <PictureDialog isOpen={isOpen} onOpenChange={setOpen} source={source} alt={alt} url={evidence.url} />
      )}
    </>
  );
}
