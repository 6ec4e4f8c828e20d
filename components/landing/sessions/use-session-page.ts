"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { type ListQuery, readSessions, type SessionPage } from "#lib/page/actions/home-actions.ts";

/** Milliseconds between two reads of the page that is shown. */
const EVERY_MS = 5_000;

/** One page of the list, and why the last read failed. `page` belongs to `query`, which may be an earlier one. */
type Shown = { page: SessionPage | undefined; query: ListQuery | undefined; problem: string | undefined };

/**
 * Reads a page of the list, and reads it again every few seconds while the tab is visible. It never reads more than this
 * one page, and never twice at once, so the cost does not depend on the number of sessions. An answer for an earlier
 * query is ignored.
 */
export function useSessionPage({ text, filter, cursor }: ListQuery) {
  const [shown, setShown] = useState<Shown>({ page: undefined, query: undefined, problem: undefined });
  const reread = useRef<() => void>(() => {});
  useEffect(() => {
    const query = { text, filter, cursor };
    let isCurrent = true;
    let isReading = false;
    let isStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function read(): Promise<void> {
      clearTimeout(timer);
      if (document.hidden) return;
      isStale = isReading;
      if (isReading) return;
      isReading = true;
      const outcome = await readSessions(query);
      isReading = false;
      if (!isCurrent) return;
      // A read that began before a change of the person may miss the change, so it is repeated.
      if (isStale) return read();
      setShown((before) => ({
        page: outcome.isDone ? outcome.answer : before.page,
        query: outcome.isDone ? query : before.query,
        problem: outcome.isDone
          ? undefined
          : outcome.status === 401
            ? "You are signed out. Reload the page."
            : outcome.error,
      }));
      timer = setTimeout(() => void read(), EVERY_MS);
    }
    const onVisible = () => void read();
    reread.current = onVisible;
    document.addEventListener("visibilitychange", onVisible);
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [text, filter, cursor]);
  const refresh = useCallback(() => reread.current(), []);
  return { ...shown, refresh };
}
