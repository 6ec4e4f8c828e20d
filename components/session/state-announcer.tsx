"use client";

import { describeState } from "#lib/page/labels/describe-state.ts";
import { useLiveStatus, useSession } from "../runtime/session-context.tsx";
import { useStop } from "./composer/stop-context.tsx";

/** Announces the session's state to screen readers, but not the streamed text. */
export function StateAnnouncer() {
  const words = describeState(useSession(), useLiveStatus());
  const { isArmed } = useStop();
  const sentences = [words.title, words.tone === "busy" ? null : words.detail, words.advice];
  const text = isArmed
    ? "Press Esc again to stop the agent."
    : sentences.flatMap((sentence) => (sentence ? `${sentence.replace(/[.]$/, "")}.` : [])).join(" ");
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}
