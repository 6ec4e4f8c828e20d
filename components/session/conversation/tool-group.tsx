"use client";

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { describeActions } from "#lib/page/labels/describe-actions.ts";
import { describeTool } from "#lib/page/labels/describe-tool.ts";
import { formatDuration } from "#lib/page/labels/format.ts";
import type { TimelineCall } from "#lib/page/state/timeline.ts";
import { cn } from "../../ui/cn.ts";
import { EvidenceStrip } from "./evidence-strip.tsx";
import { LineButton } from "./line-button.tsx";
import { ToolIcon } from "./tool-icon.tsx";
import { ToolLine } from "./tool-line.tsx";

/** Shows consecutive calls of one tool, folded into one line. A single call has its own line. */
export function ToolGroup({ toolName, calls }: { toolName: string; calls: TimelineCall[] }) {
  const [isOpen, setOpen] = useState(false);
  const [only] = calls;
  if (calls.length === 1 && only) return <ToolLine {...only} />;
  const words = describeTool(toolName, null);
  const did = describeActions(calls.flatMap(({ call }) => call?.actions ?? []));
  const isRunning = calls.some(({ call, isOver }) => (call ? call.state === "started" : !isOver));
  const unplanned = calls.filter(({ call }) => call?.refusal === "plan_first").length;
  const unapproved = calls.filter(({ call }) => call?.refusal === "not_approved").length;
  const failures = calls.filter(
    ({ call }) => call?.state === "failed" && !call.refusal && !call.isStopped,
  ).length;
  const interruptions = calls.filter(({ call }) => call?.state === "interrupted").length;
  const durationMs = calls.reduce((sum, { call }) => sum + (call?.durationMs ?? 0), 0);
  const evidence = calls.flatMap(({ call }) => call?.evidence ?? []);
  return (
    <div>
      <LineButton isOpen={isOpen} onToggle={setOpen}>
        <ToolIcon icon={words.icon} />
        <span className="truncate text-soft">{did ?? words.many(calls.length)}</span>
        <ChevronRight
          aria-hidden
          className={cn("size-3.5 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
        />
        {unplanned > 0 && <span className="shrink-0 text-warn text-xs">{unplanned} not run, plan first</span>}
        {unapproved > 0 && (
          <span className="shrink-0 text-warn text-xs">{unapproved} not run, not approved</span>
        )}
        {interruptions > 0 && (
          <span className="shrink-0 text-faint text-xs">{interruptions} interrupted by a person</span>
        )}
        {failures > 0 && <span className="shrink-0 text-bad text-xs">{failures} failed</span>}
        <span className="flex-1" />
        <span className="shrink-0 text-faint text-xs tabular-nums">
          {isRunning ? "running" : durationMs > 0 && formatDuration(durationMs)}
        </span>
      </LineButton>
      {isOpen ? (
        <div className="ml-2 border-l pl-4">
          {calls.map((call) => (
            <ToolLine key={call.toolCallId} {...call} />
          ))}
        </div>
      ) : (
        <EvidenceStrip evidence={evidence} />
      )}
    </div>
  );
}
