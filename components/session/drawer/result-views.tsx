"use client";

import { Download, LoaderCircle } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { readTable } from "#lib/page/state/result-table.ts";
import type { Deliverable } from "#lib/page/state/view-types.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { download } from "../../ui/download.ts";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { lazily } from "../../ui/lazily.tsx";
import { Segments } from "../../ui/segments.tsx";
import { FailedResult } from "./failed-result.tsx";

const ReceiptsPanel = lazily(async () => (await import("./receipts-panel.tsx")).ReceiptsPanel);
const ResultTableView = lazily(async () => (await import("./result-table-view.tsx")).ResultTableView);

type View = "tree" | "table" | "raw" | "failure" | "progress" | "schema";

const VIEWS: Record<Deliverable["status"], readonly (readonly [View, string])[]> = {
  pending: [
    ["progress", "Result"],
    ["schema", "Schema"],
  ],
  ready: [
    ["tree", "Tree"],
    ["raw", "Raw"],
    ["schema", "Schema"],
  ],
  failed: [
    ["failure", "Result"],
    ["schema", "Schema"],
  ],
};

/** Only a result that is a list of objects has this view. */
const TABLE_CHOICE = ["table", "Table"] as const;

/** Shows a result and its schema. The status of the result decides which views there are. */
export function ResultViews({ deliverable, schema }: { deliverable: Deliverable; schema: unknown }) {
  const table = useMemo(
    () => (deliverable.status === "ready" ? readTable(deliverable.value) : undefined),
    [deliverable],
  );
  const ofStatus = VIEWS[deliverable.status];
  const views = table ? [...ofStatus.slice(0, 1), TABLE_CHOICE, ...ofStatus.slice(1)] : ofStatus;
  const [chosenView, setChosenView] = useState<View>("tree");
  const [marks, setMarks] = useState<ReadonlyMap<string, string>>();
  const view = views.find(([each]) => each === chosenView)?.[0] ?? views[0]?.[0] ?? "schema";
  const file =
    view === "schema"
      ? { text: toText(schema), name: "schema.json" }
      : deliverable.status === "ready"
        ? { text: toText(deliverable.value), name: `${deliverable.runId}.json` }
        : undefined;
  return (
    <>
      <div className="flex flex-wrap items-center gap-1 px-4 pt-3">
        <Segments label="View" choices={views} chosen={view} onChoose={setChosenView} />
        {file && (
          <div className="ml-auto flex gap-1">
            <CopyButton text={file.text} variant="ghost">
              Copy
            </CopyButton>
            <Button size="sm" variant="ghost" onClick={() => download(file.name, file.text)}>
              <Download aria-hidden /> Download
            </Button>
          </div>
        )}
      </div>
      {deliverable.status === "ready" && view !== "schema" && (
        <ReceiptsPanel runId={deliverable.runId} onMarks={setMarks} />
      )}
      {view === "table" && table ? (
        <ResultTableView table={table} name={deliverable.runId} />
      ) : (
        showView(view, deliverable, schema, marks)
      )}
    </>
  );
}

function showView(
  view: View,
  deliverable: Deliverable,
  schema: unknown,
  marks: ReadonlyMap<string, string> | undefined,
): ReactNode {
  if (view === "schema")
    return (
      <Padded>
        <CodeBlock text={toText(schema)} language="json" className="max-h-none" />
      </Padded>
    );
  switch (deliverable.status) {
    case "pending":
      return (
        <EmptyNote icon={<LoaderCircle className="animate-spin" />} title="The agent is still working">
          The result is collected when its turn ends.
        </EmptyNote>
      );
    case "failed":
      return <FailedResult deliverable={deliverable} />;
    case "ready":
      return (
        <Padded>
          {view === "raw" ? (
            <CodeBlock text={toText(deliverable.value)} language="json" className="max-h-none" />
          ) : (
            <JsonTree value={deliverable.value} {...(marks && { marks })} />
          )}
        </Padded>
      );
  }
}

const Padded = ({ children }: { children: ReactNode }) => <div className="px-4 py-3">{children}</div>;

const toText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";
