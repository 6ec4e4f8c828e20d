"use client";

import { useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { describeTool } from "#lib/api/client/describe-tool.ts";
import type { TimelineCall } from "#lib/api/client/timeline.ts";
import { EvidenceStrip } from "./evidence-strip.tsx";
import { LineButton } from "./line-button.tsx";
import { ToolDetail } from "./tool-detail.tsx";
import { ToolIcon } from "./tool-icon.tsx";
import { ToolTime } from "./tool-time.tsx";

/** One tool call: icon, verb in plain words, object, time; opens to input, result and pictures. */
export function ToolLine({ toolCallId, toolName, input, call, isOver }: TimelineCall) {
  const [isOpen, setOpen] = useState(false);
  const words = describeTool(toolName, input);
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
        <span className={cn("shrink-0 text-soft", isRunning && call && "text-accent-strong")}>
          {isRunning ? words.running : words.done}
        </span>
        {words.object && (
          <span className="min-w-0 truncate font-mono text-faint text-xs">{words.object}</span>
        )}
        <span className="flex-1" />
        {!isOver && <ToolTime call={call} />}
      </LineButton>
      {isOpen && <ToolDetail id={`${toolCallId}-detail`} toolName={toolName} input={input} call={call} />}
      <EvidenceStrip evidence={call?.evidence ?? []} />
    </div>
  );
}
