"use client";

import { Braces, PencilLine } from "lucide-react";
import { VariantResults } from "../../changes/variant-results.tsx";
import { PageResults } from "../../pages/page-results.tsx";
import { ReportResults } from "../../reports/report-results.tsx";
import { useDrawer } from "../../runtime/drawer-context.tsx";
import { useSession } from "../../runtime/session-context.tsx";
import { cn } from "../../ui/cn.ts";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { ResultViews } from "./result-views.tsx";

/**
 * Shows the results of a session: the structured result if the session has a schema, the variants, landing pages and
 * reports.
 */
export function ResultTab() {
  const { session, variants, pages, reports } = useSession();
  const parts = [
    ...(session.isStructured ? [<StructuredResult key="result" />] : []),
    ...(variants.length > 0 ? [<VariantResults key="variants" />] : []),
    ...(pages.length > 0 ? [<PageResults key="pages" />] : []),
    ...(reports.length > 0 ? [<ReportResults key="reports" />] : []),
  ];
  if (parts.length === 0)
    return (
      <EmptyNote icon={<PencilLine />} title="No changes yet">
        If the agent changes the page, its variant appears here, with a check of it. A session started with a
        schema ends every turn in a typed JSON value instead.
      </EmptyNote>
    );
  return <div className="flex flex-col divide-y">{parts}</div>;
}

/** Shows the structured result of a turn: the newest result, or a result that the person chose. */
function StructuredResult() {
  const { deliverables, session } = useSession();
  const { resultRunId, open } = useDrawer();
  const deliverable = deliverables.find(({ runId }) => runId === resultRunId) ?? deliverables.at(-1);
  if (!deliverable) {
    return (
      <EmptyNote icon={<Braces />} title="No result yet">
        It is collected when the agent ends its turn.
      </EmptyNote>
    );
  }
  return (
    <div className="flex flex-col">
      {deliverables.length > 1 && (
        <div className="flex flex-wrap gap-1 px-4 pt-3">
          {deliverables.map((each, index) => (
            <button
              key={each.runId}
              type="button"
              aria-pressed={each === deliverable}
              onClick={() =>
                open("result", { resultRunId: each === deliverables.at(-1) ? null : each.runId })
              }
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
