"use client";

import { useEffect, useState } from "react";
import type { Release, VariantView } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";

/** Reads the releases of a variant, and reads them again after each change of its publication. */
export function useReleases({ key, publication }: VariantView): {
  /** The releases that were read last, newest first; undefined until a read has succeeded. */
  releases: Release[] | undefined;
  error: string | null;
} {
  const { actions } = useRuntime();
  const [releases, setReleases] = useState<Release[]>();
  const [error, setError] = useState<string | null>(null);
  const current = publication?.release ?? null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another current release means that the list has changed
  useEffect(() => {
    let isCurrent = true;
    void actions.readReleases(key).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.isDone) setReleases(outcome.answer);
      setError(outcome.isDone ? null : outcome.error);
    });
    return () => {
      isCurrent = false;
    };
  }, [actions, key, current]);
  return { releases, error };
}
