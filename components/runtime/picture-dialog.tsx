"use client";

import { Download } from "lucide-react";
import { formatAddress } from "#lib/page/labels/format.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useStoredAddress } from "./use-stored-address.ts";

/** Shows a stored picture at its full size, with a link that downloads it. */
export function PictureDialog({
  isOpen,
  onOpenChange,
  source,
  alt,
  url,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  source: string;
  alt: string;
  /** The address of the page that the picture shows. */
  url: string | null;
}) {
  const address = useStoredAddress(source);
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title={alt}
      className="w-[min(1280px,calc(100vw-32px))]"
    >
      {/* biome-ignore lint/performance/noImgElement: the artifact needs the cookie, and is shown as it was taken */}
      <img
        src={address}
        alt={alt}
        className="mx-auto max-h-[calc(100dvh-168px)] max-w-full rounded-md border object-contain"
      />
      <div className="mt-3 flex items-center justify-between gap-4">
        <span className="truncate font-mono text-faint text-xs">{url && formatAddress(url)}</span>
        <Button size="sm" asChild>
          <a href={source} download>
            <Download aria-hidden /> Download
          </a>
        </Button>
      </div>
    </Dialog>
  );
}
