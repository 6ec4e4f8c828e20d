"use client";

import { ChevronRight } from "lucide-react";
import { findTestRunOfCall } from "#lib/page/labels/describe-test-run.ts";
import type { ToolCallView } from "#lib/page/state/view-types.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useSession } from "../runtime/session-context.tsx";

/** Shows a button that opens the test run of a tool call; renders nothing for other calls. */
export function TestRunLink({ call }: { call: ToolCallView | undefined }) {
  const { testRuns } = useSession();
  const { open } = useDrawer();
  const id = findTestRunOfCall(call);
  const run = testRuns.find((each) => each.id === id);
  if (!run) return null;
  return (
    <p className="mt-1 mb-2 pl-6">
      <button
        type="button"
        onClick={() => open("tests", { testRunId: run.id })}
        className="inline-flex h-7 items-center gap-1 rounded-md border bg-surface px-2 text-accent-strong text-xs hover:bg-hover"
      >
        Show test run {run.number} <ChevronRight aria-hidden className="size-3.5" />
      </button>
    </p>
  );
}
