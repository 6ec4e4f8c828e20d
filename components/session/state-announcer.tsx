"use client";

import { describeState } from "#lib/api/client/describe-state.ts";
import { useLiveStatus, useSession } from "./session-context.tsx";

/** Tells those who listen what the session is doing: the state and what happened, not every word as it streams. */
export function StateAnnouncer() {
  const words = describeState(useSession(), useLiveStatus());
  const text = [words.title, words.tone === "busy" ? null : words.detail, words.advice]
    .filter(Boolean)
    .join(". ");
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}
