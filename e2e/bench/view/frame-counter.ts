const FRAME_TIMEOUT_MS = 10_000;

/** Counts frames. Callers can wait up to 10 s for the next frame. */
export function createFrameCounter() {
  let frames = 0;
  let waiters: ((atMs: number) => void)[] = [];
  return {
    frames: () => frames,
    count() {
      frames += 1;
      const atMs = performance.now();
      for (const notify of waiters) notify(atMs);
      waiters = [];
    },
    nextFrame: () =>
      new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("no frame came")), FRAME_TIMEOUT_MS);
        waiters.push((atMs) => {
          clearTimeout(timer);
          resolve(atMs);
        });
      }),
  };
}
