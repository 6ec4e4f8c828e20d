"use client";

import { useCallback, useState } from "react";
import { useSession } from "#components/runtime/session-context.tsx";
import { useStoredAddress } from "#components/runtime/use-stored-address.ts";
import type { PageSize } from "./use-live-pictures.ts";

/**
 * Shows the last stored picture of the page. The live view contains this picture until the first live picture arrives.
 */
export function LastPicture({ takenAt, onSize }: { takenAt: string; onSize: (size: PageSize) => void }) {
  const { paths } = useSession();
  const address = useStoredAddress(`${paths.picture}?at=${encodeURIComponent(takenAt)}`);
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
      // The ref also measures the picture, because `onLoad` does not fire for a picture that loaded before hydration.
      ref={measure}
      src={address}
      alt="The page when its browser was last used"
      className="block size-full"
      onLoad={({ currentTarget }) => measure(currentTarget)}
      onError={() => setMissing(true)}
    />
  );
}
