import { CircleSlash, RotateCw, TriangleAlert } from "lucide-react";
import { ATTEMPTS_MAX } from "#lib/page/labels/describe-state.ts";
import type { RunView } from "#lib/page/state/view-types.ts";

/** Shows the notice of a run that was stopped, was retried, failed, or did not reach its page. */
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
  const { title, reason } =
    run.pageError === null
      ? { title: "Failed", reason: run.error ?? "the run ended with an error." }
      : { title: "Page not reached", reason: run.pageError };
  return (
    <p className="flex items-start gap-2 text-bad text-sm [overflow-wrap:anywhere]">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span>
        <span className="font-medium">{title}:</span> {reason}
      </span>
    </p>
  );
}
