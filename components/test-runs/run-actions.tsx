"use client";

import { Play, Square } from "lucide-react";
import { useState } from "react";
import { isUnderWay } from "#lib/page/state/apply-test-run.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { TestRun } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { Button } from "../ui/button.tsx";

/**
 * Shows a button that runs the tests of a run again. While the run has not ended, the button cancels the run instead.
 * Renders nothing for viewers.
 */
export function RunActions({ run, onStarted }: { run: TestRun; onStarted: (run: TestRun) => void }) {
  const { actions, store } = useRuntime();
  const session = useSession();
  const [isBusy, setBusy] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const [error, setError] = useState<string | null>(null);
  if (!mayDirect(session)) return null;
  const isOpen = isUnderWay(run);
  const other = session.testRuns.find((each) => isUnderWay(each) && each.id !== run.id);
  const isBlocked = isBusy || (isOpen ? isCancelling : other !== undefined);

  async function runAgain(): Promise<void> {
    setBusy(true);
    setError(null);
    const outcome = await actions.rerunTests(run.id);
    setBusy(false);
    if (!outcome.isDone) return setError(`The tests were not started: ${outcome.error}`);
    store.mergeTestRun(outcome.answer);
    onStarted(outcome.answer);
  }

  async function cancel(): Promise<void> {
    setCancelling(true);
    setError(null);
    const outcome = await actions.cancelTests(run.id);
    if (outcome.isDone) return;
    setCancelling(false);
    setError(`The test run was not cancelled: ${outcome.error}`);
  }

  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {/* The same button starts and cancels. It is never `disabled`, so that it keeps the focus when the run ends. */}
      <Button
        size="sm"
        className="h-7 max-lg:h-9 max-lg:px-3 aria-disabled:opacity-45"
        aria-disabled={isBlocked}
        onClick={() => !isBlocked && void (isOpen ? cancel() : runAgain())}
      >
        {isOpen ? (
          <>
            <Square aria-hidden className="fill-current" /> {isCancelling ? "Cancelling" : "Cancel"}
          </>
        ) : (
          <>
            <Play aria-hidden /> Run again
          </>
        )}
        <span className="sr-only">test run {run.number}</span>
      </Button>
      {!isOpen && other && (
        <p className="text-faint text-xs">Test run {other.number} has to end before another one starts.</p>
      )}
      {error && (
        <p role="alert" className="text-bad text-sm [overflow-wrap:anywhere]">
          {error}
        </p>
      )}
    </div>
  );
}
