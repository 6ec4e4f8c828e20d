"use client";

import { useCallback, useEffect, useState } from "react";
import type { VariantRevision, VariantView } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../runtime/session-context.tsx";

type ShownRevision = {
  /**
   * The newest revision of the variant. While it is loading, or if it could not be read, this is the revision from an
   * earlier read of the same variant; undefined without an earlier read.
   */
  revision: VariantRevision | undefined;
  /** Why the last read of the variant failed; null if it succeeded, or if no read has ended yet. */
  error: string | null;
  retry: () => void;
};

/**
 * The outcome of the last read. `key` is the key of the variant that was read. The page may show another variant now.
 * If the read failed, `revision` is the revision from an earlier read of the same variant, if there was one.
 */
type LastRead = { key: string; revision?: VariantRevision; error: string | null };

/** Reads the newest revision of a variant, and reads it again after each new revision and each new check. */
export function useRevision(variant: VariantView): ShownRevision {
  const { revisions, store } = useRuntime();
  const { key, revision, check } = variant;
  const [last, setLast] = useState<LastRead>({ key, error: null });
  const [attempts, setAttempts] = useState(0);
  const current = last.key === key ? last : undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: key, number and check identify the revision; `attempts` triggers a retry
  useEffect(() => {
    let isCurrent = true;
    void revisions.read(variant).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.isDone) {
        setLast({ key, revision: outcome.answer, error: null });
        store.addRevisionFacts(outcome.answer);
      } else {
        setLast((before) => ({ ...(before.key === key && before), key, error: outcome.error }));
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [revisions, store, key, revision, check?.at, check?.status, attempts]);

  const retry = useCallback(() => setAttempts((count) => count + 1), []);
  return { revision: revisions.peek(variant) ?? current?.revision, error: current?.error ?? null, retry };
}
