"use client";

import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useState } from "react";

const STORED_AS = "conversation-width";
const WIDTH_MIN = 320;
/** The live view keeps at least this width. */
const STAGE_MIN = 400;
const STEP = 16;

/**
 * Shows the line between the conversation and the live view. It can be dragged, and moved with the arrow keys; a double
 * click or Enter restores the original width. The width is stored in this browser.
 *
 * @param panes the element whose property `--conversation` is the width of the conversation.
 */
export function PaneSplitter({ panes }: { panes: RefObject<HTMLElement | null> }) {
  const [width, setWidth] = useState<number | null>(null);
  const [limit, setLimit] = useState(WIDTH_MIN);

  useEffect(() => {
    setWidth(readStored());
    const measure = () => setLimit(Math.max(WIDTH_MIN, innerWidth - STAGE_MIN));
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  const shown = width === null ? null : Math.min(width, limit);
  useEffect(() => {
    if (shown === null) panes.current?.style.removeProperty("--conversation");
    else panes.current?.style.setProperty("--conversation", `${shown}px`);
  }, [panes, shown]);

  function change(next: number | null): void {
    const allowed = next === null ? null : Math.round(Math.max(WIDTH_MIN, Math.min(limit, next)));
    setWidth(allowed);
    store(allowed);
  }
  /** Returns the width that the conversation has now. */
  const measured = (splitter: HTMLElement): number => {
    const left = panes.current?.getBoundingClientRect().left ?? 0;
    return (splitter.parentElement?.getBoundingClientRect().left ?? left) - left;
  };
  function drag(event: PointerEvent<HTMLDivElement>): void {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    change(event.clientX - (panes.current?.getBoundingClientRect().left ?? 0));
  }
  function moveByKey(event: KeyboardEvent<HTMLDivElement>): void {
    const step = event.shiftKey ? 4 * STEP : STEP;
    const now = measured(event.currentTarget);
    const next = { ArrowLeft: now - step, ArrowRight: now + step, Home: WIDTH_MIN, End: limit, Enter: null }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    change(next);
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter that people move is a control, not a break between texts
    <div
      role="separator"
      aria-label="Width of the conversation"
      aria-orientation="vertical"
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={limit}
      aria-valuenow={shown ?? WIDTH_MIN}
      aria-valuetext={shown === null ? "Original width" : `${shown} pixels`}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => change(null)}
      onKeyDown={moveByKey}
      className="absolute inset-y-0 -left-1.5 z-10 w-3 cursor-col-resize touch-none outline-none after:absolute after:inset-y-0 after:left-1 after:w-0.5 hover:after:bg-accent focus-visible:after:bg-accent max-lg:hidden"
    />
  );
}

/** Reads the stored width; null if none is stored, or if this browser stores nothing. */
function readStored(): number | null {
  try {
    const width = Number(localStorage.getItem(STORED_AS));
    return Number.isFinite(width) && width >= WIDTH_MIN ? width : null;
  } catch {
    return null;
  }
}

function store(width: number | null): void {
  try {
    if (width === null) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, String(width));
  } catch {
    // A browser without storage forgets the width with the page.
  }
}
