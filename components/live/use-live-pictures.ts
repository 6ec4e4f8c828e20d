"use client";

import { type RefObject, useEffect, useState } from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import { decodeFrame } from "#lib/client/frame-header.ts";

export type PageSize = { width: number; height: number };

/**
 * Draws the live view on a canvas while `isShown` is true. If several pictures arrive while a picture is being decoded,
 * only the newest of them is drawn. The canvas has the resolution of the picture; the caller sets the size at which the
 * canvas is shown.
 *
 * @returns the size of the page in CSS pixels; null until the first picture.
 */
export function useLivePictures(
  canvas: RefObject<HTMLCanvasElement | null>,
  isShown: boolean,
): PageSize | null {
  const { live, onPicture } = useRuntime();
  const [size, setSize] = useState<PageSize | null>(null);

  useEffect(() => {
    if (!isShown) return;
    let waiting: ArrayBuffer | undefined;
    let isDecoding = false;
    let isStopped = false;

    async function drawWaiting(): Promise<void> {
      isDecoding = true;
      while (waiting && !isStopped) {
        const frame = decodeFrame(waiting);
        waiting = undefined;
        if (!frame) continue;
        // Skips a picture that cannot be decoded, because another picture follows.
        const jpeg = new Blob([frame.jpeg.slice()], { type: "image/jpeg" });
        const picture = await createImageBitmap(jpeg).catch(() => undefined);
        if (!picture) continue;
        if (!isStopped && canvas.current) draw(canvas.current, picture);
        picture.close();
        setSize((last) =>
          last?.width === frame.width && last.height === frame.height
            ? last
            : { width: frame.width, height: frame.height },
        );
      }
      isDecoding = false;
    }

    const leave = onPicture((frame) => {
      waiting = frame;
      if (!isDecoding) void drawWaiting();
    });
    const follow = () => live.setViewing(document.visibilityState === "visible");
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      isStopped = true;
      leave();
      document.removeEventListener("visibilitychange", follow);
      live.setViewing(false);
    };
  }, [canvas, isShown, live, onPicture]);

  return size;
}

function draw(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  if (canvas.width !== picture.width) canvas.width = picture.width;
  if (canvas.height !== picture.height) canvas.height = picture.height;
  canvas.getContext("2d", { alpha: false })?.drawImage(picture, 0, 0);
}
