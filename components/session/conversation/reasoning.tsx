"use client";

import { Brain, ChevronRight } from "lucide-react";
import { useState } from "react";
import { cn } from "../../ui/cn.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { LineButton } from "./line-button.tsx";

/** Shows the model's reasoning as one line that expands to the full text. */
export function Reasoning({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div>
      <LineButton isOpen={isOpen} onToggle={setOpen} className="text-soft">
        <Brain aria-hidden className="size-4 shrink-0 text-faint" />
        {isStreaming ? "Thinking" : "Thought"}
        <ChevronRight
          aria-hidden
          className={cn("size-3.5 text-faint transition-transform", isOpen && "rotate-90")}
        />
      </LineButton>
      {isOpen && (
        <div className="mt-1 mb-2 ml-2 border-l-2 pl-4 text-soft text-sm">
          <Markdown text={text} isStreaming={isStreaming} />
        </div>
      )}
    </div>
  );
}
