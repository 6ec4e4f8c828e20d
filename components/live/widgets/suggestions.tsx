"use client";

import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";

type SuggestionList = Extract<Widget, { kind: "suggestions" }>;

/** Shows the suggestions for a field of the live page. The focus stays in the page, so that the person can type on. */
export function Suggestions({
  widget,
  answer,
}: {
  widget: SuggestionList;
  answer: (given: WidgetAnswer) => void;
}) {
  return (
    <ul
      aria-label={`Suggestions${widget.label ? ` for ${widget.label}` : ""}`}
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      className="max-h-(--room) overflow-y-auto rounded-lg border border-line-strong bg-raised py-1 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      {widget.options.map(({ value, label }) => (
        <li key={`${value} ${label}`}>
          <button
            type="button"
            tabIndex={-1}
            onClick={() => answer({ kind: "value", value })}
            className="flex min-h-8 w-full items-center gap-2 px-3 py-1 text-left hover:bg-hover"
          >
            <span className="min-w-0 flex-1 break-words">{value}</span>
            {label !== "" && label !== value && <span className="text-faint text-xs">{label}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
