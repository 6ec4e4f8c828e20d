"use client";

import { useCallback, useState } from "react";
import { usePolling } from "#components/ui/use-polling.ts";
import { type ListQuery, readSessions, type SessionPage } from "#lib/page/actions/home-actions.ts";

/** Milliseconds between two reads of the page that is shown. */
const EVERY_MS = 5_000;

/** One page of the list, and why the last read failed. `page` belongs to `query`, which may be an earlier one. */
type Shown = { page: SessionPage | undefined; query: ListQuery | undefined; problem: string | undefined };

/**
 * Reads a page of the list, and reads it again every few seconds while the tab is visible. It never reads more than this
 * one page, so the cost does not depend on the number of sessions.
 */
export function useSessionPage({ text, filter, cursor }: ListQuery) {
  const [shown, setShown] = useState<Shown>({ page: undefined, query: undefined, problem: undefined });
  const read = useCallback(async () => {
    const query = { text, filter, cursor };
    return { query, outcome: await readSessions(query) };
  }, [text, filter, cursor]);
  const refresh = usePolling(read, {
    everyMs: EVERY_MS,
    onResult: ({ query, outcome }) =>
      setShown((before) => ({
        page: outcome.isDone ? outcome.answer : before.page,
        query: outcome.isDone ? query : before.query,
        problem: outcome.isDone
          ? undefined
          : outcome.status === 401
            ? "You are signed out. Reload the page."
            : outcome.error,
      })),
  });
  return { ...shown, refresh };
}
