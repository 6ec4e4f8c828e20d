"use client";

import { useState } from "react";
import { describeTool } from "#lib/page/labels/describe-tool.ts";
import { formatDuration } from "#lib/page/labels/format.ts";
import type { TimelineCall } from "#lib/page/state/timeline.ts";
import type { ToolCallView } from "#lib/page/state/view-types.ts";
import { ReportLink } from "../../reports/report-link.tsx";
import { TestRunLink } from "../../test-runs/test-run-link.tsx";
import { cn } from "../../ui/cn.ts";
import { lazily } from "../../ui/lazily.tsx";
import { useNow } from "../../ui/use-now.ts";
import { EvidenceStrip } from "./evidence-strip.tsx";
import { LineButton } from "./line-button.tsx";
import { ToolIcon } from "./tool-icon.tsx";

const ToolDetail = lazily(async () => (await import("./tool-detail.tsx")).ToolDetail);

/** Shows one tool call: icon, verb, object, time and evidence. Expands to the call's input and result. */
export function ToolLine({ toolCallId, toolName, input, call, isOver }: TimelineCall) {
  const [isOpen, setOpen] = useState(false);
  const result = call?.state === "succeeded" ? call.preview : "";
  const words = describeTool(toolName, input, result, call?.actions);
  const isRunning = call ? call.state === "started" : !isOver;
  return (
    <div>
      <LineButton
        isOpen={isOpen}
        onToggle={setOpen}
        panelId={`${toolCallId}-detail`}
        className={isOpen && "bg-hover"}
      >
        <ToolIcon icon={words.icon} />
        <span
          className={cn(
            "text-soft",
            words.object ? "shrink-0" : "min-w-0 truncate",
            isRunning && call && "text-accent-strong",
          )}
        >
          {isRunning || call?.refusal ? words.running : words.done}
        </span>
        {words.object && (
          <span className="min-w-0 truncate font-mono text-faint text-xs">{words.object}</span>
        )}
        <span className="flex-1" />
        {!isOver && <ToolTime call={call} />}
      </LineButton>
      {isOpen && (
        <ToolDetail
          id={`${toolCallId}-detail`}
          callId={toolCallId}
          toolName={toolName}
          input={input}
          call={call}
        />
      )}
      <EvidenceStrip evidence={call?.evidence ?? []} />
      <ReportLink call={call} />
      <TestRunLink call={call} />
    </div>
  );
}

/**
 * Shows how long a call has been running, or how long it took. Also tells the reader if the call has not begun, was
 * refused, was stopped, failed, was interrupted by a person, or has an unknown outcome.
 */
function ToolTime({ call }: { call: ToolCallView | undefined }) {
  const isRunning = call?.state === "started";
  const now = useNow(1_000, isRunning);
  if (!call) return <span className="shrink-0 text-faint text-xs">next</span>;
  const duration = call.durationMs === null ? null : formatDuration(call.durationMs);
  return (
    <span className="flex shrink-0 gap-2 text-faint text-xs tabular-nums">
      {call.refusal && (
        <span className="text-warn">
          not run, {call.refusal === "plan_first" ? "plan first" : "not approved"}
        </span>
      )}
      {call.isStopped && call.state !== "interrupted" && <span>stopped</span>}
      {call.state === "failed" && !call.refusal && !call.isStopped && (
        <span className="text-bad">failed</span>
      )}
      {call.state === "interrupted" && (
        <span className="max-w-48 truncate">interrupted by {call.interruptedBy ?? "a person"}</span>
      )}
      {call.state === "unknown" && !call.isStopped && <span className="text-warn">outcome unknown</span>}
      {isRunning && now !== null
        ? `${Math.max(0, Math.round((now - Date.parse(call.startedAt)) / 1000))} s`
        : duration}
    </span>
  );
}
