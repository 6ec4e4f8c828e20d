"use client";

import { useEffect, useRef, useState } from "react";
import type { WorkspaceFile } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../runtime/session-context.tsx";

type Listed = {
  folder: string;
  files: WorkspaceFile[];
  nextCursor: string | null;
  note: string | null;
};

/** How long changes are gathered before the list is read again. The agent can write many files at once. */
const GATHER_MS = 700;

/**
 * Returns the files of a folder. Reads them again after changes, but only while the page is visible, so that a page that
 * is left open costs nothing.
 */
export function useFiles(folder: string) {
  const { actions } = useRuntime();
  const { fileChanges } = useSession();
  const [listed, setListed] = useState<Listed | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [reads, setReads] = useState(0);
  const isVisible = useVisible();
  const shownFolder = useRef<string | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change and each wish to read again reads the list.
  useEffect(() => {
    if (!isVisible) return;
    let isCurrent = true;
    const isSameFolder = shownFolder.current === folder;
    const timer = setTimeout(
      async () => {
        const outcome = await actions.readFiles(folder, null);
        if (!isCurrent) return;
        shownFolder.current = folder;
        setError(outcome.isDone ? null : outcome.error);
        if (!outcome.isDone) return setListed(null);
        const { data, nextCursor, note } = outcome.answer;
        setListed({ folder, files: data, nextCursor, note });
      },
      isSameFolder ? GATHER_MS : 0,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [actions, folder, fileChanges, isVisible, reads]);

  async function readMore(): Promise<void> {
    if (listed?.nextCursor == null) return;
    const outcome = await actions.readFiles(folder, listed.nextCursor);
    if (!outcome.isDone) return setError(outcome.error);
    const { data, nextCursor } = outcome.answer;
    setListed((current) =>
      current === listed ? { ...listed, files: [...listed.files, ...data], nextCursor } : current,
    );
  }
  return {
    listed: listed?.folder === folder ? listed : null,
    error,
    readMore,
    readAgain: () => setReads((count) => count + 1),
  };
}

/** Whether the page is visible. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    update();
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return isVisible;
}
