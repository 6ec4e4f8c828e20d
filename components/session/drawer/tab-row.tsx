"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { cn } from "../../ui/cn.ts";

/** The width in pixels of the fade (`w-8`) at an edge that hides tabs. A tab under the fade counts as hidden. */
const EDGE_PX = 32;

/** Whether an edge of the row hides no tabs, some tabs, or some tabs with news. */
type Edge = "none" | "more" | "news";
type Edges = { start: Edge; end: Edge };

/**
 * Shows the row of tabs. The row scrolls if the tabs do not fit. Arrow keys, Home and End move the focus. An edge that
 * hides tabs fades out, has a button that scrolls, and shows whether a hidden tab has news.
 */
export function TabRow({ activeId, children }: { activeId: string; children: ReactNode }) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const edges = useEdges(scroller, list, activeId);
  const scroll = (direction: 1 | -1) => {
    const row = scroller.current;
    row?.scrollBy({ left: direction * (row.clientWidth - 2 * EDGE_PX) });
  };
  return (
    <div className="relative h-full min-w-0 flex-1">
      <div ref={scroller} className="relative h-full overflow-x-auto scroll-smooth [scrollbar-width:none]">
        <div
          ref={list}
          role="tablist"
          aria-label="Result and records"
          onKeyDown={moveFocus}
          onFocus={({ target }) => reveal(scroller.current, target)}
          className="flex h-full w-max gap-1"
        >
          {children}
        </div>
      </div>
      <EdgeButton side="start" edge={edges.start} onClick={() => scroll(-1)} />
      <EdgeButton side="end" edge={edges.end} onClick={() => scroll(1)} />
    </div>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  // Only tabs can have the focus in this row.
  const current = tabs.indexOf(event.target as HTMLElement);
  const targets: Record<string, number> = {
    ArrowLeft: current - 1,
    ArrowRight: current + 1,
    Home: 0,
    End: -1,
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  // `reveal` scrolls to the tab. The browser's own scrolling would leave the tab under the fade of an edge.
  tabs.at(target % tabs.length)?.focus({ preventScroll: true });
}

/**
 * Scrolls the row until neither edge covers the tab. Scrolls without an animation and always, because an animation that
 * is still running, as after a click on an edge, could hide the tab again.
 */
function reveal(row: HTMLElement | null, tab: HTMLElement | null): void {
  if (!row || !tab) return;
  const leftMax = tab.offsetLeft - EDGE_PX;
  const leftMin = tab.offsetLeft + tab.offsetWidth + EDGE_PX - row.clientWidth;
  row.scrollTo({ left: Math.min(Math.max(row.scrollLeft, leftMin), leftMax), behavior: "instant" });
}

/**
 * Returns whether each edge of the row hides tabs. Scrolls to the active tab when a different tab becomes active or the
 * width of the row changes.
 */
function useEdges(
  scroller: { readonly current: HTMLElement | null },
  list: { readonly current: HTMLElement | null },
  activeId: string,
): Edges {
  const [edges, setEdges] = useState<Edges>({ start: "none", end: "none" });
  const measure = useCallback(() => {
    if (!scroller.current) return;
    const { start, end } = measureEdges(scroller.current);
    setEdges((last) => (last.start === start && last.end === end ? last : { start, end }));
  }, [scroller]);
  useEffect(() => {
    const row = scroller.current;
    if (!row || !list.current) return;
    // The observer also reports the initial sizes, so the row scrolls to the active tab at the start. If only the list
    // changes, the row does not scroll, because a person may have chosen the scroll position.
    const observer = new ResizeObserver((changes) => {
      if (changes.some(({ target }) => target === row)) reveal(row, document.getElementById(activeId));
      measure();
    });
    observer.observe(row);
    observer.observe(list.current);
    row.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      row.removeEventListener("scroll", measure);
    };
  }, [scroller, list, activeId, measure]);
  return edges;
}

function measureEdges(row: HTMLElement): Edges {
  const { left, right } = row.getBoundingClientRect();
  const marks = [...row.querySelectorAll("[data-news]")].map((mark) => mark.getBoundingClientRect());
  const edge = (isCut: boolean, hasNews: boolean): Edge => (isCut ? (hasNews ? "news" : "more") : "none");
  return {
    // Tolerates a difference of one pixel, because scroll positions may be fractions.
    start: edge(
      row.scrollLeft > 1,
      marks.some((mark) => mark.left < left + EDGE_PX),
    ),
    end: edge(
      row.scrollLeft + row.clientWidth < row.scrollWidth - 1,
      marks.some((mark) => mark.right > right - EDGE_PX),
    ),
  };
}

/**
 * Shows the button at an edge that hides tabs. The button is for mouse and touch only, because the arrow keys reach
 * every tab and a screen reader reads all tabs and their news.
 */
function EdgeButton({ side, edge, onClick }: { side: "start" | "end"; edge: Edge; onClick: () => void }) {
  if (edge === "none") return null;
  const Icon = side === "start" ? ChevronLeft : ChevronRight;
  return (
    <button
      type="button"
      aria-hidden
      tabIndex={-1}
      data-edge={edge}
      title={edge === "news" ? "More tabs, with news" : "More tabs"}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
      className={cn(
        "absolute inset-y-0 flex w-8 items-center from-60% from-surface to-transparent text-faint hover:text-ink",
        side === "start" ? "left-0 justify-start bg-linear-to-r" : "right-0 justify-end bg-linear-to-l",
      )}
    >
      <Icon className="size-4" />
      {edge === "news" && (
        <span
          className={cn(
            "absolute top-2 size-1.5 rounded-full bg-accent",
            side === "start" ? "left-3" : "right-3",
          )}
        />
      )}
    </button>
  );
}

/** Shows one tab: its name, its number of items, and whether it has news. */
export function TabButton({
  id,
  name,
  count,
  hasNews,
  isActive,
  isOpen,
  onApproach,
  onClick,
}: {
  id: string;
  name: string;
  count: number;
  hasNews: boolean;
  isActive: boolean;
  isOpen: boolean;
  /** Called when the person is about to open the tab. */
  onApproach: () => void;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      role="tab"
      id={id}
      aria-selected={isActive && isOpen}
      aria-controls="drawer-panel"
      tabIndex={isActive ? 0 : -1}
      onPointerEnter={onApproach}
      onFocus={onApproach}
      onClick={onClick}
      className={cn(
        "relative flex shrink-0 items-center gap-1.5 rounded-sm px-2 font-medium text-faint text-sm outline-offset-[-2px] hover:text-ink",
        isActive && "max-lg:text-ink",
        isActive && isOpen && "text-ink",
      )}
    >
      {name}
      {count > 0 && <span className="text-faint text-xs tabular-nums">{count}</span>}
      {hasNews && (
        <span data-news className="size-1.5 rounded-full bg-accent">
          <span className="sr-only">new</span>
        </span>
      )}
      <span
        aria-hidden
        className={cn(
          "absolute inset-x-2 -bottom-px h-0.5",
          isActive && "max-lg:bg-accent",
          isActive && isOpen && "bg-accent",
        )}
      />
    </button>
  );
}
