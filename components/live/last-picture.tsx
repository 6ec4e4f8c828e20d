"use client";

import { useCallback, useState } from "react";
import { useSession } from "#components/session/session-context.tsx";
import type { PageSize } from "./use-live-pictures.ts";

/** The last picture of the page that the service stored. It is shown until the first live picture arrives. */
export function LastPicture({ takenAt, onSize }: { takenAt: string; onSize: (size: PageSize) => void }) {
  const { paths } = useSession();
  const [isMissing, setMissing] = useState(false);
  const measure = useCallback(
    (image: HTMLImageElement | null) => {
      if (image && image.naturalWidth > 0) onSize({ width: image.naturalWidth, height: image.naturalHeight });
    },
    [onSize],
  );
  if (isMissing) return null;
  return (
    // biome-ignore lint/performance/noImgElement: only the visitor's own browser has the cookie for this picture
    <img
      // `onLoad` does not fire for a picture in the server's HTML that loaded before hydration, so the ref measures it, too.
      ref={measure}
      src={`${paths.picture}?at=${encodeURIComponent(takenAt)}`}
      alt="The page when its browser was last used"
      className="block size-full"
      onLoad={({ currentTarget }) => measure(currentTarget)}
      onError={() => setMissing(true)}
    />
  );
}
