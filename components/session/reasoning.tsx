"use client";

import { Brain, ChevronRight } from "lucide-react";
import { useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { Markdown } from "#components/ui/markdown.tsx";

/** What the model thought on the way: one line, opening to the whole. */
export function Reasoning({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="-mx-2 flex h-7 w-[calc(100%+16px)] items-center gap-2 rounded-md px-2 text-left text-soft text-sm hover:bg-hover"
      >
        <Brain aria-hidden className="size-4 shrink-0 text-faint" />
        {isStreaming ? "Thinking" : "Thought"}
        <ChevronRight
          aria-hidden
          className={cn("size-3.5 text-faint transition-transform", isOpen && "rotate-90")}
        />
      </button>
      {isOpen && (
        <div className="mt-1 mb-2 ml-2 border-l-2 pl-4 text-soft text-sm">
          <Markdown text={text} isStreaming={isStreaming} />
        </div>
      )}
    </div>
  );
}
