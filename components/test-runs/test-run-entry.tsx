"use client";

import { ChevronRight } from "lucide-react";
import { useId } from "react";
import {
  describeCounts,
  describeStarter,
  describeTestTargets,
  TEST_RUN_WORDS,
} from "#lib/page/labels/describe-test-run.ts";
import { formatDuration } from "#lib/page/labels/format.ts";
import { isUnderWay } from "#lib/page/state/apply-test-run.ts";
import type { TestRun } from "#lib/page/state/view-types.ts";
import { Badge } from "../ui/badge.tsx";
import { cn } from "../ui/cn.ts";
import { Age } from "../ui/time.tsx";
import { Folded } from "./folded.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunProgress } from "./run-progress.tsx";
import { RunResults } from "./run-results.tsx";

/**
 * Focuses the heading when it is mounted. If the component created this function, the function would be new in each
 * render, and React would call it and move the focus each time.
 */
const focusHeading = (button: HTMLButtonElement | null): void => button?.focus();

/** Shows one test run: a heading that expands to the facts, progress, problem and results of the run. */
export function TestRunEntry({
  run,
  isOpen,
  takesFocus,
  onToggle,
  onStarted,
}: {
  run: TestRun;
  isOpen: boolean;
  /** Whether the heading gets the focus when it appears. */
  takesFocus: boolean;
  onToggle: () => void;
  onStarted: (run: TestRun) => void;
}) {
  const panelId = useId();
  return (
    <>
      <h2>
        <button
          ref={takesFocus ? focusHeading : null}
          type="button"
          aria-expanded={isOpen}
          aria-controls={panelId}
          onClick={onToggle}
          className="flex min-h-11 w-full items-start gap-2 px-4 py-2 text-left outline-offset-[-2px] hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            className={cn("mt-0.5 size-4 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
          />
          <RunSummary run={run} />
        </button>
      </h2>
      <div id={panelId} hidden={!isOpen} className="px-4 pt-1 pb-4">
        {isOpen && (
          <div className="flex flex-col gap-3">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <RunFacts run={run} />
              <RunActions run={run} onStarted={onStarted} />
            </div>
            {isUnderWay(run) && (
              <div className="flex flex-col gap-1">
                <RunProgress run={run} />
                <p className="text-faint text-xs">The results can be read when the run has ended.</p>
              </div>
            )}
            <Problem run={run} />
            {!isUnderWay(run) && <RunResults key={run.id} run={run} />}
            <RunOptions run={run} />
          </div>
        )}
      </div>
    </>
  );
}

function RunSummary({ run }: { run: TestRun }) {
  const { tone, title } = TEST_RUN_WORDS[run.status];
  return (
    <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5 text-sm">
      <span className="font-medium">Test run {run.number}</span>
      <Badge tone={tone}>{title}</Badge>
      <span className="text-soft tabular-nums">{describeCounts(run)}</span>
      <span className="ml-auto text-faint text-xs max-sm:ml-0 max-sm:w-full">
        <Age iso={run.createdAt} />
      </span>
    </span>
  );
}

/** Shows why the tests have no results, or which hosts the tests could not reach. */
function Problem({ run: { problem, status } }: { run: TestRun }) {
  if (problem === null) return null;
  return (
    <p
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className={cn(
        "max-h-60 overflow-auto whitespace-pre-wrap rounded-md px-3 py-2 text-sm [overflow-wrap:anywhere]",
        // A problem with several lines is an error message that includes code.
        problem.includes("\n") && "font-mono text-xs leading-[18px]",
        status === "failed" ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn",
      )}
    >
      {problem}
    </p>
  );
}

/** Shows what a run tested, who started the run, and how long the run took. */
function RunFacts({ run }: { run: TestRun }) {
  const { startedAt, endedAt } = run;
  const tookMs = startedAt !== null && endedAt !== null ? Date.parse(endedAt) - Date.parse(startedAt) : null;
  return (
    <p className="min-w-0 flex-1 basis-56 text-soft text-sm [overflow-wrap:anywhere]">
      {describeTestTargets(run)}, {describeStarter(run)}
      {tookMs !== null && `, took ${formatDuration(tookMs)}`}
    </p>
  );
}

/** Shows the options of a run. Omits options with their default value, except the files. */
function RunOptions({ run }: { run: TestRun }) {
  const { files, grep, baseUrl, viewport, retries } = run;
  const options: { name: string; value: string | null; isCode?: boolean }[] = [
    { name: "Address", value: baseUrl, isCode: true },
    files.length === 0
      ? { name: "Files", value: "All test files" }
      : { name: "Files", value: files.join(", "), isCode: true },
    { name: "Titles", value: grep, isCode: true },
    { name: "Screen", value: viewport === "desktop" ? null : viewport },
    { name: "Retries", value: retries === 0 ? null : String(retries) },
  ];
  return (
    <Folded title="Options of the run">
      <dl className="grid grid-cols-[64px_minmax(0,1fr)] gap-x-4 gap-y-1">
        {options.map(
          ({ name, value, isCode }) =>
            value !== null && (
              <div key={name} className="contents">
                <dt className="text-faint">{name}</dt>
                <dd className={cn("[overflow-wrap:anywhere]", isCode && "font-mono text-xs leading-5")}>
                  {value}
                </dd>
              </div>
            ),
        )}
      </dl>
    </Folded>
  );
}
