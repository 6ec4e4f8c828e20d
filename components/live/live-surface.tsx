"use client";

import { type RefObject, useEffect, useMemo, useRef } from "react";
import { useRuntime } from "#components/session/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { createPageInput } from "./page-input.ts";
import { pointInPage } from "./page-point.ts";
import type { PageSize } from "./use-live-pictures.ts";

/**
 * Lies over the live view and passes mouse, wheel, keys, composed text and pastes on to the page. It is a text area
 * without a face: that is what input methods and on-screen keyboards talk to. Esc leaves; Shift+Esc is the page's Esc.
 */
export function LiveSurface({
  page,
  surface,
  onFocusChange,
  takeControl,
  className,
}: {
  page: PageSize;
  surface: RefObject<HTMLTextAreaElement | null>;
  onFocusChange: (hasFocus: boolean) => void;
  takeControl: () => void;
  className?: string;
}) {
  const { live, store, onPassing } = useRuntime();
  const input = useMemo(() => createPageInput((frame) => live.send(frame)), [live]);
  const exit = useRef<HTMLSpanElement>(null);
  const pageRef = useRef(page);
  pageRef.current = page;
  const at = (event: { clientX: number; clientY: number }) =>
    pointInPage(event, (surface.current as HTMLTextAreaElement).getBoundingClientRect(), pageRef.current);

  // React's wheel listener is passive and could not keep our own page from scrolling.
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const point = pointInPage(event, element.getBoundingClientRect(), pageRef.current);
      input.wheel(point, event);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [surface, input]);

  /** To the place behind the surface, and the surface out of the way: Tab goes on from here, Shift+Tab back. */
  function leave(): void {
    if (surface.current) surface.current.tabIndex = -1;
    exit.current?.focus({ preventScroll: true });
  }
  const comeBack = () => {
    // Not before the focus has found its new place.
    setTimeout(() => {
      if (surface.current) surface.current.tabIndex = 0;
    });
  };

  // The pointer looks as it does in the page under it.
  useEffect(
    () =>
      onPassing((frame) => {
        if (frame.type === "cursor" && surface.current) surface.current.style.cursor = frame.data.cursor;
      }),
    [surface, onPassing],
  );

  return (
    <>
      <textarea
        ref={surface}
        aria-label="Live browser: what you type and click goes to the page. Esc leaves."
        autoCapitalize="off"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        onFocus={() => onFocusChange(true)}
        onBlur={() => {
          input.release();
          onFocusChange(false);
        }}
        onContextMenu={(event) => event.preventDefault()}
        onPointerMove={(event) => input.move(at(event), event)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          event.currentTarget.focus({ preventScroll: true });
          // The focus may have stayed here while somebody else took control.
          if (store.getState().control !== "you") takeControl();
        }}
        onMouseDown={(event) => input.press(at(event), event, "down")}
        onMouseUp={(event) => input.press(at(event), event, "up")}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || event.key === "Process" || event.key === "Unidentified")
            return;
          if (event.key === "Escape") {
            event.preventDefault();
            if (!event.shiftKey) return leave();
            const plainEscape = {
              key: "Escape",
              code: "Escape",
              altKey: false,
              ctrlKey: false,
              metaKey: false,
              shiftKey: false,
            };
            input.key(plainEscape, "down");
            return input.key(plainEscape, "up");
          }
          // Left to the browser, so that it answers with a paste event.
          if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v") return;
          event.preventDefault();
          event.stopPropagation();
          input.key(event, "down");
        }}
        onKeyUp={(event) => {
          if (event.nativeEvent.isComposing || event.key === "Process" || event.key === "Unidentified")
            return;
          input.key(event, "up");
        }}
        onCompositionEnd={(event) => {
          input.text(event.data);
          event.currentTarget.value = "";
        }}
        onInput={(event) => {
          // On-screen keyboards write without key events.
          const { isComposing, inputType, data } = event.nativeEvent as InputEvent;
          if (isComposing) return;
          if (inputType === "insertText" && data) input.text(data);
          event.currentTarget.value = "";
        }}
        onPaste={(event) => {
          event.preventDefault();
          input.paste(event.clipboardData.getData("text/plain"));
        }}
        className={cn(
          "absolute inset-0 block size-full cursor-default resize-none overflow-hidden text-transparent caret-transparent opacity-0 outline-none",
          className,
        )}
      />
      {/* Holds the focus after Esc has left the page. More Esc presses end here: they were meant for the page. */}
      <span
        ref={exit}
        role="note"
        tabIndex={-1}
        onBlur={comeBack}
        onKeyDown={(event) => event.key === "Escape" && event.preventDefault()}
        className="sr-only"
      >
        You left the live browser.
      </span>
    </>
  );
}
