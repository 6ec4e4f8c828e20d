import type { RecordedPicture } from "#lib/client/wire.ts";

/**
 * Finds the picture that shows the page after a call: the picture of this call, or else the last one that was taken
 * before the call ended, because a call that did not change how the page looks has none.
 * @returns its index; 0 if all pictures are later.
 */
export function findMoment(
  pictures: readonly Pick<RecordedPicture, "callId" | "takenAt">[],
  { callId, atMs }: { callId: string; atMs: number },
): number {
  const own = pictures.findLastIndex((picture) => picture.callId === callId);
  if (own !== -1) return own;
  return Math.max(
    0,
    pictures.findLastIndex(({ takenAt }) => Date.parse(takenAt) <= atMs),
  );
}
