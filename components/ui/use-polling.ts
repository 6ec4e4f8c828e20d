"use client";

import { useCallback, useEffect, useRef } from "react";

type PollingOptions<Result> = {
  /** Milliseconds between two reads while the tab is visible. */
  everyMs: number;
  /** Milliseconds between two reads while the tab is hidden. Without it, nothing is read then. */
  hiddenEveryMs?: number;
  onResult: (result: Result) => void;
};

/**
 * Reads something now and again, and at once when the tab becomes visible. It never reads twice at the same time, and
 * ignores an answer of an earlier `read`.
 *
 * @param read another function begins anew, so it has to be memoized.
 * @returns a function that reads at once.
 */
export function usePolling<Result>(
  read: () => Promise<Result>,
  { everyMs, hiddenEveryMs, onResult }: PollingOptions<Result>,
): () => void {
  const reread = useRef<() => void>(() => {});
  const handle = useRef(onResult);
  handle.current = onResult;
  useEffect(() => {
    let isCurrent = true;
    let isReading = false;
    let isStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function poll(): Promise<void> {
      clearTimeout(timer);
      if (document.hidden && hiddenEveryMs === undefined) return;
      isStale = isReading;
      if (isReading) return;
      isReading = true;
      const result = await read();
      isReading = false;
      if (!isCurrent) return;
      // A read that began before a change of the person may miss the change, so it is repeated.
      if (isStale) return poll();
      handle.current(result);
      timer = setTimeout(() => void poll(), (document.hidden && hiddenEveryMs) || everyMs);
    }
    const pollNow = () => void poll();
    reread.current = pollNow;
    document.addEventListener("visibilitychange", pollNow);
    void poll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", pollNow);
    };
  }, [read, everyMs, hiddenEveryMs]);
  return useCallback(() => reread.current(), []);
}
