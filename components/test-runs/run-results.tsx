"use client";

import { LoaderCircle } from "lucide-react";
import { useState } from "react";
import {
  countTests,
  filterTests,
  groupTestResults,
  type TestStatus,
} from "#lib/page/state/group-test-results.ts";
import type { TestRun } from "#lib/page/state/view-types.ts";
import { Button } from "../ui/button.tsx";
import { StatusFilter } from "./status-filter.tsx";
import { TestEntry } from "./test-entry.tsx";
import { useTestResults } from "./use-test-results.ts";

/** Shows the results of an ended test run, grouped by file. */
export function RunResults({ run }: { run: TestRun }) {
  const { results, error, retry } = useTestResults(run.id);
  const [only, setOnly] = useState<TestStatus | null>(null);
  if (error !== null)
    return (
      <p role="alert" className="flex flex-wrap items-center gap-2 text-bad text-sm">
        The results could not be read: {error}
        <Button size="sm" onClick={retry}>
          Try again
        </Button>
      </p>
    );
  if (!results)
    return (
      <p className="flex items-center gap-2 text-faint text-sm">
        <LoaderCircle aria-hidden className="size-4 animate-spin" /> Reading the results
      </p>
    );
  if (results.length === 0)
    return <p className="text-faint text-sm">No test ran, so there are no results.</p>;
  const files = groupTestResults(results);
  const shown = filterTests(files, only);
  return (
    <div className="flex flex-col gap-3">
      <StatusFilter files={files} only={only} onChange={setOnly} />
      <p role="status" className={only === null ? "sr-only" : "text-faint text-sm"}>
        {only !== null && `${countTests(shown)} of ${countTests(files)} tests are shown.`}
      </p>
      {shown.map(({ file, tests }) => (
        <div key={file} className="overflow-hidden rounded-lg border">
          <h3 className="border-b bg-sunken px-3 py-1.5 font-medium font-mono text-xs [overflow-wrap:anywhere]">
            {file}
          </h3>
          <ul aria-label={`Tests of ${file}`} className="divide-y">
            {tests.map((test) => (
              <li key={test.key}>
                <TestEntry test={test} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
