"use client";

import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { useLiveStatus, useSession } from "#components/runtime/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { lazily } from "#components/ui/lazily.tsx";
import { AgentPointer } from "./agent-pointer.tsx";
import type { AnnotateTool } from "./annotate/annotate-bar.tsx";
import { WatchingHint } from "./control-notice.tsx";
import { LastPicture } from "./last-picture.tsx";
import { LiveNote } from "./live-note.tsx";
import { fitPage } from "./page-point.ts";
import { type PageSize, useLivePictures } from "./use-live-pictures.ts";
import { useViewport, type ViewportChoice } from "./use-viewport.ts";
import { StageWidget } from "./widgets/stage-widget.tsx";

const loadSurface = async () => (await import("./live-surface.tsx")).LiveSurface;
const LiveSurface = lazily(loadSurface);
const AnnotateStage = lazily(async () => (await import("./annotate/annotate-stage.tsx")).AnnotateStage);
const AnnotationPins = lazily(async () => (await import("./annotate/annotation-pins.tsx")).AnnotationPins);
const LoadProblem = lazily(async () => (await import("./load-problem.tsx")).LoadProblem);

/**
 * Shows the live picture of the page, shrunk if there is too little room. Accepts input from visitors with the role
 * `drive`.
 */
export function LiveView({
  surface,
  isShown,
  hasFocus,
  hasKeyboard,
  viewport,
  onPageSize,
  onFocusChange,
  onRefused,
  isHinting,
  takeControl,
  tool,
  onAnnotated,
}: {
  surface: RefObject<HTMLTextAreaElement | null>;
  isShown: boolean;
  hasFocus: boolean;
  /** Whether an on-screen keyboard opens while the live view has the focus. */
  hasKeyboard: boolean;
  /** The size that this person has chosen for the page. */
  viewport: ViewportChoice;
  /** Called with the size of the page when it changes. */
  onPageSize: (page: PageSize | null) => void;
  onFocusChange: (hasFocus: boolean) => void;
  /** Called when the visitor types or clicks without control. */
  onRefused: () => void;
  /** Whether to say that the visitor only watches. */
  isHinting: boolean;
  takeControl: () => void;
  /** The tool with which the visitor annotates the page; null if they do not. */
  tool: AnnotateTool | null;
  /** Called when the visitor is done with it. */
  onAnnotated: () => void;
}) {
  const { role, agent, annotations, browser, control, pictureTakenAt, stage } = useSession();
  const hasPins =
    role !== "view" && agent === null && annotations.some(({ status }) => status !== "resolved");
  const roomRef = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const page = useLivePictures(canvas, isShown);
  const room = useInnerSize(roomRef);
  // The size of the last stored picture, which is shown until the first live picture arrives.
  const [stillSize, setStillSize] = useState<PageSize | null>(null);
  const size = page ?? stillSize;
  const shown = useMemo(() => (size && room ? fitPage(size, room) : null), [size, room]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => onPageSize(page), [onPageSize, page]);
  // Input is lost until the surface is there, so it is loaded while the first picture is awaited.
  const isPictureNear = browser.status === "creating" || browser.status === "ready";
  useEffect(() => {
    if (role === "drive" && isPictureNear) void loadSurface().catch(() => {});
  }, [role, isPictureNear]);
  useViewport(viewport, room, page && shown ? shown.width / page.width : 1);
  const picture = useMemo(
    () =>
      page && shown && room
        ? {
            page,
            room,
            shown: {
              ...shown,
              left: (room.width - shown.width) / 2,
              top: (room.height - shown.height) / 2,
            },
          }
        : null,
    [page, room, shown],
  );
  const isLost = useLiveStatus().state === "reconnecting";
  const isStale = browser.status === "creating" || browser.status === "error" || isLost;

  return (
    <div className="relative min-h-0 flex-1 bg-sunken p-3 max-lg:p-2">
      <div ref={roomRef} className="relative flex size-full items-center justify-center">
        <div
          className={cn(
            "relative overflow-hidden rounded-sm bg-white ring-1 ring-line",
            hasFocus && control === "you" && !isLost && "ring-2 ring-accent ring-offset-2 ring-offset-sunken",
            !shown && "hidden",
          )}
          ref={(element) => {
            element?.style.setProperty("width", shown ? `${shown.width}px` : "");
            element?.style.setProperty("height", shown ? `${shown.height}px` : "");
          }}
        >
          <canvas
            ref={canvas}
            className={cn("block size-full", isStale && "opacity-40 grayscale", !page && "hidden")}
            role="img"
            aria-label="Live view of the page"
          />
          {!page && pictureTakenAt && (
            <div className={cn("size-full", browser.status !== "expired" && "opacity-40 grayscale")}>
              <LastPicture key={pictureTakenAt} takenAt={pictureTakenAt} onSize={setStillSize} />
            </div>
          )}
          {page && role === "drive" && !tool && (
            <LiveSurface
              page={page}
              surface={surface}
              hasKeyboard={hasKeyboard}
              onFocusChange={onFocusChange}
              onRefused={onRefused}
              onProblem={setProblem}
            />
          )}
          {page && <AgentPointer page={page} />}
        </div>
        <LiveNote hasPicture={shown !== null} />
        {isHinting && shown && <WatchingHint takeControl={takeControl} />}
        {problem && (
          <p
            role="alert"
            className="absolute bottom-3 rounded-lg border bg-raised px-3 py-2 text-sm shadow-(color:--shadow-color) shadow-lg"
          >
            {problem}
          </p>
        )}
        {stage?.failure && <LoadProblem />}
        {picture && <StageWidget surface={surface} picture={picture} />}
        {picture && hasPins && isShown && <AnnotationPins picture={picture} isAnnotating={tool !== null} />}
        {picture && tool && <AnnotateStage tool={tool} picture={picture} onLeave={onAnnotated} />}
      </div>
    </div>
  );
}

/** Returns the inner size of an element and follows its changes; null until the element is measured. */
function useInnerSize(element: RefObject<HTMLElement | null>): { width: number; height: number } | null {
  const [room, setRoom] = useState<{ width: number; height: number } | null>(null);
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      setRoom({ width, height });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return room;
}
