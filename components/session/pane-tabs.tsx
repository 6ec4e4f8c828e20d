"use client";

import { cn } from "#components/ui/cn.ts";

/** The part of the session that a narrow page shows. */
export type Pane = "conversation" | "browser" | "result";

const NAMES: Record<Pane, string> = { conversation: "Conversation", browser: "Browser", result: "Result" };

/** Lets the person choose which part of the session a narrow page shows. */
export function PaneTabs({
  pane,
  onChange,
  hasBrowser,
}: {
  pane: Pane;
  onChange: (pane: Pane) => void;
  hasBrowser: boolean;
}) {
  const panes: Pane[] = hasBrowser ? ["conversation", "browser", "result"] : ["conversation", "result"];
  return (
    <nav
      aria-label="Parts of the session"
      className="flex h-10 shrink-0 gap-1 border-b bg-surface px-2 lg:hidden"
    >
      {panes.map((each) => (
        <button
          key={each}
          type="button"
          aria-current={each === pane}
          onClick={() => onChange(each)}
          className={cn(
            "-mb-px flex-1 border-b-2 font-medium text-sm",
            each === pane ? "border-accent text-ink" : "border-transparent text-faint hover:text-ink",
          )}
        >
          {NAMES[each]}
        </button>
      ))}
    </nav>
  );
}
