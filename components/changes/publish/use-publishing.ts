"use client";

import { useState } from "react";
import type { ActionOutcome } from "#lib/page/actions/call-action.ts";
import type { Publication, VariantView } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";

/** The visitor's actions on the publication of a variant. */
export type Publishing = {
  isBusy: boolean;
  /** The outcome of the last action, as a sentence. */
  note: { text: string; isError: boolean } | null;
  publish: (revision: number, unchecked: boolean) => Promise<void>;
  makeCurrent: (release: number) => Promise<void>;
  unpublish: () => Promise<void>;
};

/** Returns functions that publish a variant, change its current release and unpublish it. */
export function usePublishing({ key }: VariantView): Publishing {
  const { actions, store } = useRuntime();
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<Publishing["note"]>(null);

  async function act(run: () => Promise<Publishing["note"]>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setNote(null);
    setNote(await run());
    setBusy(false);
  }

  function showOutcome(outcome: ActionOutcome<Publication | null>, done: string, failed: string) {
    if (!outcome.isDone) return toError(`${failed}: ${outcome.error}`);
    store.setPublication(key, outcome.answer);
    return toNote(done);
  }

  /**
   * Returns a sentence that says why publishing failed with a conflict. If a newer revision exists, the sentence names
   * that revision.
   */
  async function explainConflict(revision: number, error: string): Promise<string> {
    const listed = await actions.readVariants();
    if (listed.isDone) store.mergeVariants(listed.answer);
    const newest = listed.isDone ? listed.answer.find((variant) => variant.key === key)?.revision : undefined;
    return newest !== undefined && newest > revision
      ? `Revision ${revision} was not published, because revision ${newest} is newer.`
      : `Revision ${revision} was not published: ${error}`;
  }

  return {
    isBusy,
    note,
    publish: (revision, unchecked) =>
      act(async () => {
        const outcome = await actions.publishVariant(key, { revision, unchecked });
        if (outcome.isDone) {
          store.mergeVariants([outcome.answer.variant]);
          return toNote(`Release ${outcome.answer.publication.number} is published.`);
        }
        if (outcome.status === 409) return toError(await explainConflict(revision, outcome.error));
        return toError(`Revision ${revision} was not published: ${outcome.error}`);
      }),
    makeCurrent: (release) =>
      act(async () =>
        showOutcome(
          await actions.rollBackVariant(key, release),
          `Release ${release} is the current one.`,
          `Release ${release} was not made the current one`,
        ),
      ),
    unpublish: () =>
      act(async () =>
        showOutcome(
          await actions.unpublishVariant(key),
          "The variant is unpublished.",
          "The variant was not unpublished",
        ),
      ),
  };
}

const toNote = (text: string) => ({ text, isError: false });
const toError = (text: string) => ({ text, isError: true });
