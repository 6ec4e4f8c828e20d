"use client";

import { Check } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";

type Select = Extract<Widget, { kind: "select" }>;

/** How long a pause between two letters may be that belong to one word. */
const TYPING_MS = 700;

/** Shows the options of a `<select>` of the live page. A click, Enter or Space chooses. */
export function OptionList({
  widget,
  answer,
  cancel,
}: {
  widget: Select;
  answer: (given: WidgetAnswer) => void;
  cancel: () => void;
}) {
  const { options, label, omitted } = widget;
  const selected = options.findIndex(({ isSelected }) => isSelected);
  const [active, setActive] = useState(Math.max(0, selected));
  const list = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", atMs: 0 });
  const id = useId();

  useEffect(() => list.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active, id]);

  function choose(index: number): void {
    if (options[index]?.isDisabled === false) answer({ kind: "option", chosen: index });
  }
  function handleKey(event: KeyboardEvent): void {
    const { key } = event;
    const next = targetOf(key, active, options);
    if (next !== undefined) setActive(next);
    else if (key === "Enter") choose(active);
    else if (key === " " && Date.now() - typed.current.atMs > TYPING_MS) choose(active);
    else if (key === "Tab") cancel();
    else if ([...key].length === 1 && !event.ctrlKey && !event.metaKey) find(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** Moves to the next option that begins with the typed letters. */
  function find(key: string): void {
    const nowMs = Date.now();
    const text = nowMs - typed.current.atMs > TYPING_MS ? key : typed.current.text + key;
    typed.current = { text, atMs: nowMs };
    const from = text.length > 1 ? active : active + 1;
    const order = [...options.keys()].map((step) => (from + step) % options.length);
    const isMatch = (index: number) => {
      const option = options[index];
      return option && !option.isDisabled && option.label.toLowerCase().startsWith(text.toLowerCase());
    };
    const found = order.find(isMatch);
    if (found !== undefined) setActive(found);
  }

  return (
    <div className="flex max-h-(--room) flex-col overflow-hidden rounded-lg border border-line-strong bg-raised text-sm shadow-(color:--shadow-color) shadow-lg">
      <div
        ref={list}
        role="listbox"
        tabIndex={0}
        aria-label={label || "Options"}
        aria-activedescendant={`${id}-${active}`}
        onKeyDown={handleKey}
        className="min-h-0 flex-1 overflow-y-auto py-1 outline-none"
      >
        {options.map((option, index) => {
          const isFirstOfGroup = option.group !== null && option.group !== options[index - 1]?.group;
          return (
            // The options have no other identity than their place, and the list is replaced as a whole.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <div key={index}>
              {isFirstOfGroup && (
                <div role="presentation" className="truncate px-3 pt-2 pb-1 font-medium text-faint text-xs">
                  {option.group}
                </div>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys */}
              <div
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={option.isSelected}
                aria-disabled={option.isDisabled}
                onClick={() => choose(index)}
                onPointerMove={() => !option.isDisabled && setActive(index)}
                className={cn(
                  "flex min-h-8 cursor-default items-center gap-2 px-3 py-1",
                  option.group !== null && "pl-5",
                  option.isDisabled && "text-faint opacity-60",
                  index === active && !option.isDisabled && "bg-hover",
                )}
              >
                <span className="min-w-0 flex-1 break-words">{option.label || "\u00a0"}</span>
                {option.isSelected && <Check aria-hidden className="size-4 shrink-0 text-accent" />}
              </div>
            </div>
          );
        })}
        {omitted > 0 && <p className="px-3 py-1 text-faint text-xs">{omitted} more options are not shown.</p>}
      </div>
    </div>
  );
}

const PAGE = 8;

/** Returns the option to which a key moves; undefined if the key does not move. */
function targetOf(key: string, active: number, options: Select["options"]): number | undefined {
  const usable = options.flatMap(({ isDisabled }, index) => (isDisabled ? [] : [index]));
  const at = usable.indexOf(active);
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + PAGE,
    PageUp: at - PAGE,
    Home: 0,
    End: usable.length - 1,
  };
  const step = steps[key];
  if (step === undefined || usable.length === 0) return undefined;
  return usable[Math.max(0, Math.min(usable.length - 1, step))];
}
