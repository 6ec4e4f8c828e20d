"use client";

import { useState } from "react";
import type { ActionOutcome } from "#lib/page/actions/call-action.ts";
import type { LandingPage } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** The actions that a visitor can take on a landing page. */
export type PageChanges = {
  isBusy: boolean;
  /** The outcome of the last action, as a sentence. */
  note: { text: string; isError: boolean } | null;
  publishVersion: (version: number) => Promise<void>;
  unpublish: () => Promise<void>;
};

/** Returns functions that publish another version of a landing page or unpublish the page. */
export function usePageChanges({ slug }: LandingPage): PageChanges {
  const { actions, store } = useRuntime();
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<PageChanges["note"]>(null);

  async function act(
    change: () => Promise<ActionOutcome<LandingPage>>,
    done: string,
    failed: string,
  ): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setNote(null);
    const outcome = await change();
    if (outcome.isDone) store.mergePage(outcome.answer);
    setNote(
      outcome.isDone
        ? { text: done, isError: false }
        : { text: `${failed}: ${outcome.error}`, isError: true },
    );
    setBusy(false);
  }

  return {
    isBusy,
    note,
    publishVersion: (version) =>
      act(
        () => actions.rollBackPage(slug, version),
        `Version ${version} is published.`,
        `Version ${version} was not published`,
      ),
    unpublish: () =>
      act(() => actions.unpublishPage(slug), "The page is unpublished.", "The page was not unpublished"),
  };
}
