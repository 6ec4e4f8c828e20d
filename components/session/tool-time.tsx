"use client";

import { useNow } from "#components/ui/use-now.ts";
import { formatDuration } from "#lib/api/client/format.ts";
import type { ToolCallView } from "#lib/api/client/types.ts";

/** How long a call took, takes so far, or how else it ended. */
export function ToolTime({ call }: { call: ToolCallView | undefined }) {
  const isRunning = call?.state === "started";
  const now = useNow(1_000, isRunning);
  if (!call) return <span className="shrink-0 text-faint text-xs">next</span>;
  const duration = call.durationMs === null ? null : formatDuration(call.durationMs);
  return (
    <span className="flex shrink-0 gap-2 text-faint text-xs tabular-nums">
      {call.state === "failed" && <span className="text-bad">failed</span>}
      {call.state === "unknown" && <span className="text-warn">outcome unknown</span>}
      {isRunning && now !== null
        ? `${Math.max(0, Math.round((now - Date.parse(call.startedAt)) / 1000))} s`
        : duration}
    </span>
  );
}
