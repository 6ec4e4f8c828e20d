const PATIENCE_MS = 10_000;

/** Counts frames and tells who waits for the next one. */
export function createFrameCounter() {
  let frames = 0;
  let waiting: ((atMs: number) => void)[] = [];
  return {
    frames: () => frames,
    count() {
      frames += 1;
      const atMs = performance.now();
      for (const tell of waiting) tell(atMs);
      waiting = [];
    },
    nextFrame: () =>
      new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("no frame came")), PATIENCE_MS);
        waiting.push((atMs) => {
          clearTimeout(timer);
          resolve(atMs);
        });
      }),
  };
}
