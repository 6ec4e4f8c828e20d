import { TEST_WORDS } from "#lib/page/labels/describe-test-run.ts";
import {
  countTests,
  filterTests,
  TEST_STATUSES,
  type TestFile,
  type TestStatus,
} from "#lib/page/state/group-test-results.ts";
import { cn } from "../ui/cn.ts";

/** Lets the person choose which tests are shown. A test with two results is counted under the status of each result. */
export function StatusFilter({
  files,
  only,
  onChange,
}: {
  files: TestFile[];
  /** The status whose tests are shown; null for all. */
  only: TestStatus | null;
  onChange: (only: TestStatus | null) => void;
}) {
  const choices = TEST_STATUSES.map((status) => [status, countTests(filterTests(files, status))] as const);
  const found = choices.filter(([, count]) => count > 0);
  if (found.length < 2) return null;
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">Tests to show</legend>
      {[[null, countTests(files)] as const, ...found].map(([status, count]) => (
        <button
          key={status}
          type="button"
          aria-pressed={status === only}
          onClick={() => onChange(status)}
          className={cn(
            "h-7 rounded-full border px-2.5 text-xs tabular-nums max-lg:h-9 max-lg:px-3",
            status === only ? "border-accent bg-accent-soft text-accent-strong" : "text-soft hover:bg-hover",
          )}
        >
          {status === null ? "All" : TEST_WORDS[status].title} {count}
        </button>
      ))}
    </fieldset>
  );
}
