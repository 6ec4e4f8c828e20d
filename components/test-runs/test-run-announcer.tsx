"use client";

import { useState } from "react";
import { describeEnd } from "#lib/page/labels/describe-test-run.ts";
import { isUnderWay } from "#lib/page/state/apply-test-run.ts";
import { useSession } from "../runtime/session-context.tsx";

/** Announces the end of a test run to screen readers, whichever tab is open. */
export function TestRunAnnouncer() {
  const { testRuns } = useSession();
  const [endedBefore] = useState(() => testRuns.filter((run) => !isUnderWay(run)).map(({ id }) => id));
  const ended = testRuns.find((run) => !isUnderWay(run) && !endedBefore.includes(run.id));
  return (
    <div role="status" aria-label="Test runs" className="sr-only">
      {ended && describeEnd(ended)}
    </div>
  );
}
