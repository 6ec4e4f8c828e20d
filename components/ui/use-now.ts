"use client";

import { useEffect, useState } from "react";

/**
 * Returns the current time, updated every `everyMs` while `isTicking` is true. Returns null until hydration, because
 * the server's clock and time zone may differ from the reader's.
 */
export function useNow(everyMs: number, isTicking = true): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isTicking]);
  return now;
}
