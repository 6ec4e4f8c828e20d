import { CircleSlash, RotateCw, TriangleAlert } from "lucide-react";
import { ATTEMPTS_MAX, adviseOn } from "#lib/api/client/describe-state.ts";
import type { RunView } from "#lib/api/client/types.ts";

/** Where a run ended other than well: stopped, failed and tried again, or failed for good. */
export function RunNotice({ run, retriedAs }: { run: RunView; retriedAs: RunView | undefined }) {
  if (run.state === "cancelled") {
    return (
      <p className="flex items-center gap-2 text-faint text-sm">
        <CircleSlash aria-hidden className="size-4" /> Stopped
      </p>
    );
  }
  if (retriedAs) {
    return (
      <p className="flex items-start gap-2 text-faint text-sm">
        <RotateCw aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span>
          Attempt {run.attempt} of {ATTEMPTS_MAX} failed: {run.error}
        </span>
      </p>
    );
  }
  return (
    <div className="flex gap-2 rounded-lg border border-bad/30 bg-bad-soft px-3 py-2 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium text-bad">{run.error ?? "The run ended with an error."}</p>
        <p className="mt-0.5 text-soft">{adviseOn(run.error)}</p>
      </div>
    </div>
  );
}
