"use client";

import { type RefObject, useEffect, useRef } from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import type { PageInput } from "./page-input.ts";
import { pointInPage } from "./page-point.ts";
import type { PageSize } from "./use-live-pictures.ts";

/**
 * Sends the fingers of a person who has control to the live page, so that swipes, long presses and pinches happen there.
 * Without control, a tap is a click, which has no effect; the person's own browser handles swipes and pinches.
 */
export function usePageTouch(
  surface: RefObject<HTMLTextAreaElement | null>,
  input: PageInput,
  page: PageSize,
): void {
  const { store } = useRuntime();
  const size = useRef(page);
  size.current = page;

  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    let pressTimer: ReturnType<typeof setTimeout> | undefined;
    /** Where the only finger began to touch. */
    let began: { x: number; y: number } | undefined;
    /** Whether the touch has become a long press. Such a finger clicks nothing when it leaves. */
    let isLong = false;
    /** The fingers of this touch, by their number. A finger has the same small number until all are gone. */
    const ids = new Map<number, number>();
    let isForPage = false;

    function pointsOf(touches: TouchList) {
      const shown = (element as HTMLElement).getBoundingClientRect();
      return [...touches].flatMap((finger) => {
        const id = ids.get(finger.identifier);
        return id === undefined ? [] : [{ id, ...pointInPage(finger, shown, size.current) }];
      });
    }
    /** Chromium does not recognize long presses of fingers that are sent to it. They open the context menu of the page. */
    function waitForLongPress(event: TouchEvent): void {
      clearTimeout(pressTimer);
      isLong = false;
      const [finger] = event.targetTouches;
      if (!finger || event.targetTouches.length > 1) return;
      began = { x: finger.clientX, y: finger.clientY };
      const at = pointInPage(finger, (element as HTMLElement).getBoundingClientRect(), size.current);
      pressTimer = setTimeout(() => {
        isLong = true;
        input.press(at, SECONDARY, "down");
        input.press(at, SECONDARY, "up");
      }, LONG_PRESS_MS);
    }
    function stays(event: TouchEvent): boolean {
      const [finger] = event.targetTouches;
      return finger !== undefined && began !== undefined
        ? Math.hypot(finger.clientX - began.x, finger.clientY - began.y) < MOVE_MIN
        : false;
    }
    function start(event: TouchEvent): void {
      if (ids.size === 0) isForPage = store.getState().control === "you";
      if (!isForPage) return;
      // Prevents the mouse events that browsers send after a tap, and the zoom of this page.
      event.preventDefault();
      element?.focus({ preventScroll: true });
      for (const { identifier } of event.changedTouches)
        if (ids.size < FINGERS_MAX) ids.set(identifier, firstFree(ids));
      input.touch("start", pointsOf(event.targetTouches));
      waitForLongPress(event);
    }
    function move(event: TouchEvent): void {
      if (!isForPage) return;
      event.preventDefault();
      if (!stays(event)) clearTimeout(pressTimer);
      input.touch("move", pointsOf(event.targetTouches));
    }
    function end(event: TouchEvent): void {
      if (!isForPage) return;
      event.preventDefault();
      clearTimeout(pressTimer);
      for (const { identifier } of event.changedTouches) ids.delete(identifier);
      const isClick = event.type === "touchend" && !isLong;
      input.touch(isClick ? "end" : "cancel", isClick ? pointsOf(event.targetTouches) : []);
      if (!isClick) ids.clear();
    }
    // Not React's events: its listeners are passive, so they cannot prevent what the browser does by itself.
    const listeners = { touchstart: start, touchmove: move, touchend: end, touchcancel: end };
    for (const [type, listener] of Object.entries(listeners))
      element.addEventListener(type as "touchstart", listener, { passive: false });
    return () => {
      clearTimeout(pressTimer);
      for (const [type, listener] of Object.entries(listeners))
        element.removeEventListener(type as "touchstart", listener);
    };
  }, [surface, input, store]);
}

const FINGERS_MAX = 10;
const LONG_PRESS_MS = 600;
/** A finger that moves less than this, in pixels, stays where it is. */
const MOVE_MIN = 10;
/** A click with the right button. */
const SECONDARY = { button: 2, detail: 1, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };

function firstFree(ids: ReadonlyMap<number, number>): number {
  const taken = new Set(ids.values());
  let free = 0;
  while (taken.has(free)) free += 1;
  return free;
}
