"use client";

import { Braces, Download, LoaderCircle, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { EmptyNote } from "#components/ui/empty-note.tsx";
import { JsonTree } from "#components/ui/json-tree.tsx";
import type { Deliverable } from "#lib/api/client/types.ts";
import { useDrawer } from "./drawer-context.tsx";
import { FailedResult } from "./failed-result.tsx";
import { useSession } from "./session-context.tsx";

/** The structured result of a turn: the newest, or an earlier one. */
export function ResultTab() {
  const { deliverables, session } = useSession();
  const { resultRunId, open } = useDrawer();
  const deliverable = deliverables.find(({ runId }) => runId === resultRunId) ?? deliverables.at(-1);
  if (!session.isStructured) {
    return (
      <EmptyNote icon={<Braces />} title="This session answers in words">
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
      <Result key={deliverable.runId} deliverable={deliverable} />
    </div>
  );
}

function Result({ deliverable }: { deliverable: Deliverable }) {
  if (deliverable.status === "pending") {
    return (
      <EmptyNote icon={<LoaderCircle className="animate-spin" />} title="The agent is still at work">
        The result is collected when its turn ends.
      </EmptyNote>
    );
  }
  if (deliverable.status === "failed")
    return <FailedResult deliverable={deliverable} icon={<TriangleAlert aria-hidden />} />;
  return <ReadyResult value={deliverable.value} runId={deliverable.runId} />;
}

function ReadyResult({ value, runId }: { value: unknown; runId: string }) {
  const [view, setView] = useState<"tree" | "raw">("tree");
  const text = JSON.stringify(value, null, 2);
  const download = () => {
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: `${runId}.json` });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <>
      <div className="flex items-center gap-1 px-4 pt-3">
        {(["tree", "raw"] as const).map((each) => (
          <Button
            key={each}
            size="sm"
            variant="ghost"
            aria-pressed={view === each}
            className={cn(view === each && "bg-hover text-ink")}
            onClick={() => setView(each)}
          >
            {each === "tree" ? "Tree" : "Raw"}
          </Button>
        ))}
        <span className="flex-1" />
        <CopyButton text={text} variant="ghost">
          Copy
        </CopyButton>
        <Button size="sm" variant="ghost" onClick={download}>
          <Download aria-hidden /> Download
        </Button>
      </div>
      <div className="px-4 py-3">
        {view === "tree" ? <JsonTree value={value} /> : <CodeBlock text={text} className="max-h-none" />}
      </div>
    </>
  );
}
