"use client";

import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
} from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import { createPageInput, type PageInput } from "./page-input.ts";
import { pointInPage } from "./page-point.ts";
import type { PageSize } from "./use-live-pictures.ts";

type Surface = RefObject<HTMLTextAreaElement | null>;

/**
 * Covers the live view, and sends mouse, wheel and key events, composed text and pastes to the live page. It is an
 * invisible text area, because input methods and on-screen keyboards write into text areas. Esc leaves the live view;
 * Shift+Esc sends Esc to the live page.
 */
export function LiveSurface({
  page,
  surface,
  onFocusChange,
  takeControl,
}: {
  page: PageSize;
  surface: Surface;
  onFocusChange: (hasFocus: boolean) => void;
  takeControl: () => void;
}) {
  const { store } = useRuntime();
  const { input, pointOf } = usePageInput(surface, page);
  usePageCursor(surface);
  const exit = useRef<HTMLSpanElement>(null);

  /**
   * Moves the focus out of the live view. Removes the surface from the Tab order, so that the next Tab or Shift+Tab
   * does not return to it.
   */
  function leave(): void {
    if (surface.current) surface.current.tabIndex = -1;
    exit.current?.focus({ preventScroll: true });
  }
  function returnToTabOrder(): void {
    // Waits until the browser has moved the focus.
    setTimeout(() => {
      if (surface.current) surface.current.tabIndex = 0;
    });
  }
  function startPress(event: PointerEvent<HTMLTextAreaElement>): void {
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus({ preventScroll: true });
    // Usually, the focus event takes control. If another person took control, the surface may still have the focus, and
    // `focus` then causes no focus event.
    if (store.getState().control !== "you") takeControl();
  }
  function blur(): void {
    input.release();
    onFocusChange(false);
  }

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
        onBlur={blur}
        onContextMenu={(event) => event.preventDefault()}
        onPointerMove={(event) => input.move(pointOf(event), event)}
        onPointerDown={startPress}
        onMouseDown={(event) => input.press(pointOf(event), event, "down")}
        onMouseUp={(event) => input.press(pointOf(event), event, "up")}
        onKeyDown={(event) => sendKeyDown(input, event, leave)}
        onKeyUp={(event) => {
          if (!isFromInputMethod(event)) input.key(event, "up");
        }}
        onCompositionEnd={(event) => {
          input.text(event.data);
          event.currentTarget.value = "";
        }}
        onInput={(event) => sendTyped(input, event)}
        onPaste={(event) => sendPaste(input, event)}
        className="absolute inset-0 block size-full cursor-default resize-none overflow-hidden text-transparent caret-transparent opacity-0 outline-none"
      />
      {/* This element has the focus after Esc. It handles further presses of Esc, so that they do not stop the
          agent. */}
      <span
        ref={exit}
        role="note"
        tabIndex={-1}
        onBlur={returnToTabOrder}
        onKeyDown={(event) => event.key === "Escape" && event.preventDefault()}
        className="sr-only"
      >
        You left the live browser.
      </span>
    </>
  );
}

/**
 * Returns an object that sends input to the live page, and a function that converts a mouse position to page
 * coordinates.
 */
function usePageInput(surface: Surface, page: PageSize) {
  const { live } = useRuntime();
  const input = useMemo(() => createPageInput((frame) => live.send(frame)), [live]);
  const pageRef = useRef(page);
  pageRef.current = page;

  // Not `onWheel`: React's wheel listener is passive, so it cannot prevent the session page from scrolling.
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      input.wheel(pointInPage(event, element.getBoundingClientRect(), pageRef.current), event);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [surface, input]);

  const pointOf = (event: { clientX: number; clientY: number; currentTarget: Element }) =>
    pointInPage(event, event.currentTarget.getBoundingClientRect(), page);
  return { input, pointOf };
}

/** Gives the surface the cursor that the live page shows at the position of the mouse. */
function usePageCursor(surface: Surface): void {
  const { onTransientFrame } = useRuntime();
  useEffect(
    () =>
      onTransientFrame((frame) => {
        if (frame.type === "cursor" && surface.current) surface.current.style.cursor = frame.data.cursor;
      }),
    [surface, onTransientFrame],
  );
}

/**
 * Whether an input method or an on-screen keyboard handles the key. The text of such a key arrives with an input event
 * or, if the text is composed, at the end of the composition.
 */
const isFromInputMethod = ({ key, nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || key === "Process" || key === "Unidentified";

const PLAIN_ESCAPE = {
  key: "Escape",
  code: "Escape",
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
};

function sendKeyDown(input: PageInput, event: KeyboardEvent, leave: () => void): void {
  if (isFromInputMethod(event)) return;
  if (event.key === "Escape") {
    event.preventDefault();
    if (!event.shiftKey) {
      leave();
      return;
    }
    input.key(PLAIN_ESCAPE, "down");
    input.key(PLAIN_ESCAPE, "up");
    return;
  }
  // The browser fires a paste event for Ctrl+V or Meta+V, and `sendPaste` handles the event.
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v") return;
  event.preventDefault();
  event.stopPropagation();
  input.key(event, "down");
}

/**
 * Sends text that no key event names, such as the text of an on-screen keyboard. Ignores a composition that has not
 * ended.
 */
function sendTyped(input: PageInput, event: FormEvent<HTMLTextAreaElement>): void {
  // The native event of `input` is an InputEvent.
  const { isComposing, inputType, data } = event.nativeEvent as InputEvent;
  if (isComposing) return;
  if (inputType === "insertText" && data) input.text(data);
  event.currentTarget.value = "";
}

function sendPaste(input: PageInput, event: ClipboardEvent): void {
  event.preventDefault();
  input.paste(event.clipboardData.getData("text/plain"));
}
