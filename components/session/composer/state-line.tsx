"use client";

import { describeState, type StateWords } from "#lib/page/labels/describe-state.ts";
import { formatDuration } from "#lib/page/labels/format.ts";
import { useLiveStatus, useSession } from "../../runtime/session-context.tsx";
import { StatusDot } from "../../ui/status-dot.tsx";
import { useNow } from "../../ui/use-now.ts";

/**
 * Shows the session's state in words, with details and advice if the state has any. Also shows the elapsed or the
 * remaining time.
 */
export function StateLine() {
  const words = describeState(useSession(), useLiveStatus());
  return (
    <div className="flex min-h-6 items-start gap-2 text-sm">
      <StatusDot tone={words.tone} className="mt-1.5" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="line-clamp-3">
          <span className="font-medium">{words.title}</span>
          <Countdown words={words} />
          {words.detail && <span className="text-soft"> · {words.detail}</span>}
        </p>
        {words.advice && <p className="line-clamp-2 text-faint">{words.advice}</p>}
      </div>
      <Elapsed since={words.since} />
    </div>
  );
}

function Countdown({ words }: { words: StateWords }) {
  const now = useNow(500, words.until !== null);
  if (words.until === null || now === null) return null;
  const seconds = Math.max(0, Math.ceil((Date.parse(words.until) - now) / 1000));
  return <span className="font-medium tabular-nums">{seconds > 0 ? ` in ${seconds} s` : " now"}</span>;
}

function Elapsed({ since }: { since: string | null }) {
  const now = useNow(1_000, since !== null);
  if (since === null || now === null) return null;
  const elapsedMs = Math.max(0, Math.floor((now - Date.parse(since)) / 1000) * 1000);
  return (
    <span className="shrink-0 text-faint text-xs leading-5 tabular-nums" aria-hidden>
      {elapsedMs < 10_000 ? `${elapsedMs / 1000} s` : formatDuration(elapsedMs)}
    </span>
  );
}
