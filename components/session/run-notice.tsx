import { CircleSlash, RotateCw, TriangleAlert } from "lucide-react";
import { ATTEMPTS_MAX } from "#lib/api/client/describe-state.ts";
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
    <p className="flex items-start gap-2 text-bad text-sm [overflow-wrap:anywhere]">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span>
        <span className="font-medium">Failed:</span> {run.error ?? "the run ended with an error."}
      </span>
    </p>
  );
}
