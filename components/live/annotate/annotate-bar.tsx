"use client";

import { Button } from "#components/ui/button.tsx";
import { Segments } from "#components/ui/segments.tsx";
import type { MarkedPart } from "#lib/client/wire.ts";

/** What a person marks with the pointer. */
export type AnnotateTool = MarkedPart["kind"];

const TOOLS = [
  ["element", "Element"],
  ["area", "Area"],
  ["text", "Text"],
] as const satisfies [AnnotateTool, string][];

const HINTS: Record<AnnotateTool, string> = {
  element: "Click an element of the page.",
  area: "Drag over an area of the page.",
  text: "Drag over text of the page.",
};

/** The row with the tools for annotations, in place of the address row. It is as high, so that the page keeps its size. */
export function AnnotateBar({
  tool,
  onTool,
  onLeave,
}: {
  tool: AnnotateTool;
  onTool: (tool: AnnotateTool) => void;
  onLeave: () => void;
}) {
  return (
    <div className="shrink-0 border-b bg-surface">
      <div className="flex h-11 items-center gap-2 px-2">
        <Segments label="What to annotate" choices={TOOLS} chosen={tool} onChoose={onTool} />
        <span className="min-w-0 flex-1 truncate text-soft text-sm">
          <span className="max-sm:sr-only">{HINTS[tool]} The page does not notice it.</span>
        </span>
        <Button size="sm" className="max-lg:h-8" onClick={onLeave}>
          Done
        </Button>
      </div>
    </div>
  );
}
