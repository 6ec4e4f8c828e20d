import { countEnded, describeProgress } from "#lib/page/labels/describe-test-run.ts";
import type { TestRun } from "#lib/page/state/view-types.ts";

/** Shows the progress of a test run. */
export function RunProgress({ run }: { run: TestRun }) {
  const { counts, number, status } = run;
  const progress = describeProgress(run);
  if (progress === null)
    return (
      <p className="text-soft text-sm">
        {status === "queued" ? "The tests have not started yet." : "The tests are starting."}
      </p>
    );
  const ended = countEnded(counts);
  return (
    <div className="flex items-center gap-3">
      <div
        role="progressbar"
        aria-label={`Tests of test run ${number}`}
        aria-valuemin={0}
        aria-valuemax={counts.total}
        aria-valuenow={ended}
        aria-valuetext={progress}
        className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-hover"
      >
        <svg
          aria-hidden
          viewBox={`0 0 ${counts.total} 1`}
          preserveAspectRatio="none"
          className="block size-full"
        >
          <rect width={ended} height={1} className="fill-accent" />
        </svg>
      </div>
      <span aria-hidden className="shrink-0 text-soft text-sm tabular-nums">
        {progress}
      </span>
    </div>
  );
}
