"use client";

import { useEffect, useState } from "react";

/**
 * The time, told again every `everyMs` while `isTicking`; null until the page is alive in the browser, because the
 * server's clock and zone are not the reader's.
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
