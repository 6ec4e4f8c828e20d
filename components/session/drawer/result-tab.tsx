"use client";

import { Braces } from "lucide-react";
import { cn } from "../../ui/cn.ts";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { useSession } from "../session-context.tsx";
import { useDrawer } from "./drawer-context.tsx";
import { ResultViews } from "./result-views.tsx";

/** The structured result of a turn: the newest one, or a chosen one. */
export function ResultTab() {
  const { deliverables, session } = useSession();
  const { resultRunId, open } = useDrawer();
  const deliverable = deliverables.find(({ runId }) => runId === resultRunId) ?? deliverables.at(-1);
  if (!session.isStructured) {
    return (
      <EmptyNote icon={<Braces />} title="This session has no structured result">
        A session started with a schema ends every turn in a typed JSON value, shown here.
      </EmptyNote>
    );
  }
  if (!deliverable) {
    return (
      <EmptyNote icon={<Braces />} title="No result yet">
        It is collected when the agent ends its turn.
      </EmptyNote>
    );
  }
  return (
    <div className="flex min-h-full flex-col">
      {deliverables.length > 1 && (
        <div className="flex flex-wrap gap-1 px-4 pt-3">
          {deliverables.map((each, index) => (
            <button
              key={each.runId}
              type="button"
              aria-pressed={each === deliverable}
              onClick={() => open("result", each === deliverables.at(-1) ? null : each.runId)}
              className={cn(
                "h-6 rounded-full border px-2 text-xs tabular-nums",
                each === deliverable
                  ? "border-accent bg-accent-soft text-accent-strong"
                  : "text-soft hover:bg-hover",
              )}
            >
              Result {index + 1}
              {each.status === "failed" && " · failed"}
            </button>
          ))}
        </div>
      )}
      <ResultViews key={deliverable.runId} deliverable={deliverable} schema={session.outputSchema} />
    </div>
  );
}
