"use client";

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { VariantEdit } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";

/** The edits of the variant that is shown, and a function that saves an edit. */
export type VariantEditing = {
  /** Whether this visitor may edit the variant. */
  isAllowed: boolean;
  /** The edits of the variant that are not saved yet, oldest first. They are sent one after the other. */
  saving: VariantEdit[];
  /**
   * The id of the change whose edit failed, and the reason. Null unless the edit that was sent last failed and belongs
   * to this variant.
   */
  failure: { changeId: string; error: string } | null;
  /**
   * Saves an edit as a new revision after all earlier edits were saved or failed. @returns whether the edit was saved.
   */
  save: (edit: VariantEdit) => Promise<boolean>;
};

/** An edit and the key of its variant, because changes of different variants may have the same id. */
type KeyedEdit = { key: string; edit: VariantEdit };

const CONFLICT = "The variant changed in the meantime, so this edit was not saved.";

/**
 * Saves edits one after the other. If the variant has a newer revision than the one that this person has seen, the edit
 * fails and the page shows the newer revision.
 */
export function useEditVariant(key: string, shownRevision: number | undefined): VariantEditing {
  const isAllowed = mayDirect(useSession());
  const send = useSendEdit();
  const [pending, setPending] = useState<KeyedEdit[]>([]);
  const [failed, setFailed] = useState<KeyedEdit & { error: string }>();
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  /** For each variant, the newest revision that this person has seen or created. */
  const bases = useRef(new Map<string, number>());
  useEffect(() => {
    if (shownRevision !== undefined) bases.current.set(key, shownRevision);
  }, [key, shownRevision]);

  const save = useCallback(
    (edit: VariantEdit): Promise<boolean> => {
      const keyed = { key, edit };
      setPending((edits) => [...edits, keyed]);
      const saved = queue.current.then(async () => {
        setFailed(undefined);
        const outcome = await send(keyed, bases.current.get(key) ?? 0);
        if (outcome.isSaved) bases.current.set(key, outcome.revision);
        else setFailed({ ...keyed, error: outcome.error });
        setPending((edits) => edits.filter((each) => each !== keyed));
        return outcome.isSaved;
      });
      queue.current = saved;
      return saved;
    },
    [send, key],
  );

  return useMemo(
    () => ({
      isAllowed,
      saving: pending.filter((each) => each.key === key).map(({ edit }) => edit),
      failure: failed?.key === key ? { changeId: failed.edit.changeId, error: failed.error } : null,
      save,
    }),
    [isAllowed, pending, failed, key, save],
  );
}

type SendOutcome = { isSaved: true; revision: number } | { isSaved: false; error: string };

/**
 * Returns a function that sends an edit. If the service stores the edit or has a newer revision, the function also
 * waits until the page has read the newest revision.
 */
function useSendEdit() {
  const { actions, revisions, store } = useRuntime();
  return useCallback(
    async ({ key, edit }: KeyedEdit, baseRevision: number): Promise<SendOutcome> => {
      const readNewest = async () => {
        const newest = store.getState().variants.find((variant) => variant.key === key);
        if (newest) await revisions.read(newest);
      };
      const outcome = await actions.editVariant(key, baseRevision, [edit]);
      if (outcome.isDone) {
        store.mergeVariants([outcome.answer]);
        await readNewest();
        return { isSaved: true, revision: outcome.answer.revision };
      }
      if (outcome.status !== 409)
        return { isSaved: false, error: `The edit was not saved: ${outcome.error}` };
      const listed = await actions.readVariants();
      if (!listed.isDone) return { isSaved: false, error: `${CONFLICT} ${listed.error}` };
      store.mergeVariants(listed.answer);
      await readNewest();
      const advice = "The newest revision is shown now. Make the edit again if you still want it.";
      return { isSaved: false, error: `${CONFLICT} ${advice}` };
    },
    [actions, revisions, store],
  );
}
