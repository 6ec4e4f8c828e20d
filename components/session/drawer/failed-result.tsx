import { TriangleAlert } from "lucide-react";
import { parseJson, readMarks } from "#lib/page/labels/deliverable-marks.ts";
import type { Deliverable } from "#lib/page/state/view-types.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";

/** Shows why a structured result is missing or invalid, and the model's answer with marks on the invalid values. */
export function FailedResult({ deliverable }: { deliverable: Extract<Deliverable, { status: "failed" }> }) {
  const { error, rawText } = deliverable;
  const parsed = rawText === undefined ? undefined : parseJson(rawText);
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex gap-2 rounded-lg border border-bad/30 bg-bad-soft px-3 py-2 text-sm">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="min-w-0 [overflow-wrap:anywhere]">
          <p className="whitespace-pre-wrap font-medium text-bad">{error}</p>
          <p className="mt-0.5 text-soft">Send a message to have the next turn bring a new result.</p>
        </div>
      </div>
      {rawText !== undefined && (
        <section className="flex flex-col gap-1">
          <div className="flex items-center justify-between">
            <h2 className="text-faint text-xs">Model output</h2>
            <CopyButton text={rawText} label="Copy the model output" />
          </div>
          {parsed?.isJson ? (
            <JsonTree value={parsed.value} marks={readMarks(deliverable)} />
          ) : (
            <CodeBlock text={rawText} />
          )}
        </section>
      )}
    </div>
  );
}
