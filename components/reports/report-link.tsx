"use client";

import { ChevronRight } from "lucide-react";
import { findReportOfCall } from "#lib/page/labels/describe-report.ts";
import type { ToolCallView } from "#lib/page/state/view-types.ts";
import { useSession } from "../runtime/session-context.tsx";

/** Links to the report that a tool call published; renders nothing for other calls. */
export function ReportLink({ call }: { call: ToolCallView | undefined }) {
  const { session } = useSession();
  const path = findReportOfCall(call, `/s/${session.id}`);
  if (path === null) return null;
  return (
    <p className="mt-1 mb-2 pl-6">
      <a
        href={path}
        className="inline-flex h-7 items-center gap-1 rounded-md border bg-surface px-2 text-accent-strong text-xs hover:bg-hover"
      >
        Open the report <ChevronRight aria-hidden className="size-3.5" />
      </a>
    </p>
  );
}
