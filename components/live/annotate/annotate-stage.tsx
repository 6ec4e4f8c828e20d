"use client";

import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import type { ElementBox, MarkedPart } from "#lib/client/wire.ts";
import { pointInPage } from "../page-point.ts";
import type { Picture } from "../widgets/place-at-control.ts";
import type { AnnotateTool } from "./annotate-bar.tsx";
import { CommentCard } from "./comment-card.tsx";
import { useMarking } from "./use-marking.ts";

type Point = { x: number; y: number };

/** How far an arrow key moves the crosshair, in CSS pixels of the page; with Shift, and without. */
const FAR = 60;
const NEAR = 10;
/** The least size of an area, in CSS pixels of the page. */
const DRAG_MIN = 4;

const LABELS: Record<AnnotateTool, string> = {
  element: "Pick an element. Arrow keys move the crosshair, Enter picks, Esc leaves.",
  area: "Mark an area. Arrow keys move the crosshair, Enter sets the first and the second corner, Esc leaves.",
  text: "Select text. Arrow keys move the crosshair, Enter sets the start and the end, Esc leaves.",
};

/**
 * Covers the picture of the page, and lets a person mark an element, an area or a text of it, and comment on it. Nothing
 * of it reaches the page, so it needs no control and does not disturb the person who has it. Source: decision 118.
 */
export function AnnotateStage({
  tool,
  picture,
  onLeave,
}: {
  tool: AnnotateTool;
  picture: Picture;
  onLeave: () => void;
}) {
  const { page, shown } = picture;
  const layer = useRef<HTMLDivElement>(null);
  const { preview, target, message, isBusy, look, mark, submit, setMessage, close } = useMarking();
  const [drag, setDrag] = useState<{ from: Point; to: Point } | null>(null);
  const [crosshair, setCrosshair] = useState<Point | null>(null);
  useEffect(() => layer.current?.focus({ preventScroll: true }), []);
  // A new tool begins without what the last one has marked.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tool says when
  useEffect(() => {
    setDrag(null);
    void look(null);
  }, [tool, look]);

  const pointOf = (event: PointerEvent) =>
    pointInPage(event, event.currentTarget.getBoundingClientRect(), page);
  function move(to: Point): void {
    if (target || isBusy) return;
    if (tool === "element") void look({ kind: "element", ...to });
    else if (drag) {
      setDrag({ ...drag, to });
      if (tool === "text") void look({ kind: "text", from: drag.from, to });
    }
  }
  function finish(from: Point, to: Point): void {
    setDrag(null);
    const part = partOf(tool, from, to);
    if (part) void mark(part);
    else setMessage(tool === "area" ? "Drag over an area of the page." : "Drag over text of the page.");
  }
  function leaveCard(): void {
    close();
    layer.current?.focus({ preventScroll: true });
  }
  /** Sets the first corner, or marks what is at the crosshair. */
  function confirm(at: Point): void {
    if (tool === "element") void mark({ kind: "element", ...at });
    else if (drag) finish(drag.from, at);
    else {
      setDrag({ from: at, to: at });
      setMessage(tool === "area" ? "First corner set." : "Start set.");
    }
  }
  function pressKey(event: KeyboardEvent): void {
    const at = crosshair ?? { x: Math.round(page.width / 2), y: Math.round(page.height / 2) };
    const by = event.shiftKey ? FAR : NEAR;
    const next = {
      ArrowLeft: { ...at, x: Math.max(0, at.x - by) },
      ArrowRight: { ...at, x: Math.min(page.width - 1, at.x + by) },
      ArrowUp: { ...at, y: Math.max(0, at.y - by) },
      ArrowDown: { ...at, y: Math.min(page.height - 1, at.y + by) },
    }[event.key];
    if (!next && event.key !== "Enter" && event.key !== " " && event.key !== "Escape") return;
    // Escape would otherwise also stop the agent.
    event.preventDefault();
    event.stopPropagation();
    if (next) {
      setCrosshair(next);
      move(next);
    } else if (event.key !== "Escape") confirm(at);
    else if (drag) {
      setDrag(null);
      void look(null);
    } else onLeave();
  }

  const scale = shown.width / page.width;
  const outline = target ?? preview;
  const isNamed = outline !== null && (target !== null || tool !== "area");
  return (
    <>
      <div
        ref={(element) => {
          layer.current = element;
          if (element) placeBox(element, { x: shown.left, y: shown.top, ...sizeOf(shown) }, 1);
        }}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the layer takes arrow keys, as its name says
        tabIndex={0}
        aria-label={LABELS[tool]}
        className={cn(
          "absolute z-10 cursor-crosshair touch-none overflow-hidden rounded-sm outline-none ring-2 ring-accent-soft focus-visible:ring-accent",
          tool === "text" && "cursor-text",
        )}
        onKeyDown={pressKey}
        onPointerDown={(event) => {
          if (event.button !== 0 || target) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setCrosshair(null);
          setMessage("");
          const from = pointOf(event);
          if (tool !== "element") setDrag({ from, to: from });
        }}
        onPointerMove={(event) => move(pointOf(event))}
        onPointerUp={(event) => {
          if (event.button !== 0 || target || isBusy) return;
          const to = pointOf(event);
          if (tool === "element") void mark({ kind: "element", ...to });
          else if (drag) finish(drag.from, to);
        }}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => !crosshair && void look(null)}
      >
        {isNamed && <Outline box={outline.box} scale={scale} label={target ? null : outline.note.element} />}
        {drag && tool === "area" && (
          <Outline box={boxBetween(drag.from, drag.to)} scale={scale} label={null} />
        )}
        {crosshair && !target && <Crosshair at={crosshair} scale={scale} />}
      </div>
      {target && (
        <CommentCard
          key={JSON.stringify(target.box)}
          target={target}
          picture={picture}
          isBusy={isBusy}
          problem={message === "" ? null : message}
          submit={async (comment) => {
            if (await submit(comment)) layer.current?.focus({ preventScroll: true });
          }}
          cancel={leaveCard}
        />
      )}
      <p
        role="status"
        className={cn(
          "absolute bottom-3 z-10 rounded-lg border bg-raised px-3 py-2 text-sm shadow-(color:--shadow-color) shadow-lg",
          (message === "" || target !== null) && "sr-only",
        )}
      >
        {message || (crosshair && preview ? preview.note.element : "")}
      </p>
    </>
  );
}

const sizeOf = ({ width, height }: { width: number; height: number }) => ({ width, height });

function partOf(tool: AnnotateTool, from: Point, to: Point): MarkedPart | undefined {
  if (tool === "element") return { kind: "element", ...to };
  const box = boxBetween(from, to);
  if (tool === "text")
    return box.width < DRAG_MIN && box.height < DRAG_MIN ? undefined : { kind: "text", from, to };
  return box.width < DRAG_MIN || box.height < DRAG_MIN ? undefined : { kind: "area", ...box };
}

const boxBetween = (one: Point, other: Point): ElementBox => ({
  x: Math.min(one.x, other.x),
  y: Math.min(one.y, other.y),
  width: Math.abs(one.x - other.x),
  height: Math.abs(one.y - other.y),
});

/** Places an element within its container. A content policy allows no style attributes, but this. */
function placeBox(element: HTMLElement, { x, y, width, height }: ElementBox, scale: number): void {
  Object.assign(element.style, {
    left: `${x * scale}px`,
    top: `${y * scale}px`,
    width: `${width * scale}px`,
    height: `${height * scale}px`,
  });
}

function Outline({ box, scale, label }: { box: ElementBox; scale: number; label: string | null }) {
  return (
    <div
      aria-hidden
      ref={(element) => {
        if (element) placeBox(element, box, scale);
      }}
      className="pointer-events-none absolute border-2 border-accent bg-accent/10"
    >
      {label !== null && (
        <span
          className={cn(
            "absolute -left-0.5 max-w-64 truncate bg-accent px-1 text-accent-ink text-xs",
            // Above the element where there is room, so that it does not cover what it names.
            box.y * scale > 20 ? "bottom-full" : "top-0",
          )}
        >
          {label}
        </span>
      )}
    </div>
  );
}

function Crosshair({ at, scale }: { at: Point; scale: number }) {
  return (
    <div
      aria-hidden
      ref={(element) => {
        if (element) placeBox(element, { ...at, width: 0, height: 0 }, scale);
      }}
      className="pointer-events-none absolute"
    >
      <span className="absolute -top-px -left-4 h-0.5 w-8 bg-accent ring-1 ring-white" />
      <span className="absolute -top-4 -left-px h-8 w-0.5 bg-accent ring-1 ring-white" />
    </div>
  );
}
