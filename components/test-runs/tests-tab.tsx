"use client";

import { FlaskConical } from "lucide-react";
import { useState } from "react";
import type { TestRun } from "#lib/page/state/view-types.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { EmptyNote } from "../ui/empty-note.tsx";
import { TestRunEntry } from "./test-run-entry.tsx";

/**
 * Lists the test runs of the session, newest first. At most one test run is open: the newest, or the test run that the
 * visitor chose.
 */
export function TestsTab() {
  const { testRuns } = useSession();
  const { testRunId, open } = useDrawer();
  const [closedId, setClosedId] = useState<string | null>(null);
  /**
   * The run that the visitor started here. Its heading gets the focus, because the button that had the focus is gone.
   */
  const [startedId, setStartedId] = useState<string | null>(null);
  const newest = testRuns[0];
  if (!newest) {
    return (
      <EmptyNote icon={<FlaskConical />} title="No test runs yet">
        Playwright tests that the agent runs appear here with their results.
      </EmptyNote>
    );
  }
  const shown = testRuns.find(({ id }) => id === testRunId) ?? newest;
  const openId = shown.id === closedId ? null : shown.id;
  const oldest = testRuns.at(-1)?.number ?? 1;

  function toggle({ id }: TestRun): void {
    setClosedId(id === openId ? id : null);
    open("tests", { testRunId: id });
  }
  function showStarted({ id }: TestRun): void {
    setClosedId(null);
    setStartedId(id);
    open("tests", { testRunId: id });
  }
  return (
    <>
      <ul aria-label="Test runs" className="flex flex-col divide-y">
        {testRuns.map((run) => (
          <li key={run.id}>
            <TestRunEntry
              run={run}
              isOpen={run.id === openId}
              takesFocus={run.id === startedId}
              onToggle={() => toggle(run)}
              onStarted={showStarted}
            />
          </li>
        ))}
      </ul>
      {oldest > 1 && (
        <p className="border-t px-4 py-3 text-faint text-xs">
          Test runs before number {oldest} are not shown.
        </p>
      )}
    </>
  );
}
