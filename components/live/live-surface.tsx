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
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { clipboardActionOf, isApplePlatform } from "./key-map.ts";
import { createPageInput, type PageInput } from "./page-input.ts";
import { pointInPage } from "./page-point.ts";
import type { PageSize } from "./use-live-pictures.ts";
import { usePageClipboard } from "./use-page-clipboard.ts";
import { usePageTouch } from "./use-page-touch.ts";

type Surface = RefObject<HTMLTextAreaElement | null>;

const DRIVING = "Live browser: what you type and click goes to the page. Esc leaves.";
const WATCHING = "Live browser: you are watching. Take over to type and click. Esc leaves.";

/**
 * Covers the live view, and sends mouse, touch, wheel and key events, composed text, copies and pastes to the live page.
 * It is an invisible text area, because input methods and on-screen keyboards write into text areas. Esc leaves the live
 * view; Shift+Esc sends Esc to the live page.
 */
export function LiveSurface({
  page,
  surface,
  hasKeyboard,
  onFocusChange,
  onRefused,
  onProblem,
}: {
  page: PageSize;
  surface: Surface;
  /** Whether an on-screen keyboard opens while the surface has the focus. */
  hasKeyboard: boolean;
  onFocusChange: (hasFocus: boolean) => void;
  /** Called when the visitor types, clicks or pastes without control. */
  onRefused: () => void;
  /** Shows a sentence about a copy or paste that failed; null removes it. */
  onProblem: (problem: string | null) => void;
}) {
  const hasControl = useSession().control === "you";
  const { input, pointOf } = usePageInput(surface, page);
  const clipboard = usePageClipboard(surface, onProblem);
  usePageCursor(surface);
  usePageTouch(surface, input, page);
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
    if (event.pointerType === "touch" && hasControl) return;
    event.currentTarget.focus({ preventScroll: true });
    if (!hasControl) onRefused();
  }
  function blur(): void {
    input.release();
    onFocusChange(false);
  }
  function pressKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (!hasControl) {
      refuseKey(event, leave, onRefused);
      return;
    }
    const action = isFromInputMethod(event) ? undefined : clipboardActionOf(fieldsOf(event), isApple());
    // The person's browser fires a paste event for this key.
    if (action === "paste") return;
    if (action === undefined) {
      sendKeyDown(input, event, leave);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    clipboard.copy(action);
  }
  function paste(event: ClipboardEvent): void {
    event.preventDefault();
    if (hasControl) void clipboard.paste(event.clipboardData);
    else onRefused();
  }

  return (
    <>
      <textarea
        ref={surface}
        aria-label={hasControl ? DRIVING : WATCHING}
        autoCapitalize="off"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        inputMode={hasKeyboard ? "text" : "none"}
        onFocus={() => onFocusChange(true)}
        onBlur={blur}
        onContextMenu={(event) => event.preventDefault()}
        onPointerMove={(event) => {
          if (event.pointerType !== "touch") input.move(pointOf(event), event);
        }}
        onPointerDown={startPress}
        onMouseDown={(event) => {
          // Otherwise, the middle button scrolls or pastes in the person's own browser.
          if (event.button !== 0) event.preventDefault();
          input.press(pointOf(event), event, "down");
        }}
        onMouseUp={(event) => input.press(pointOf(event), event, "up")}
        onKeyDown={pressKey}
        onKeyUp={(event) => {
          if (!isFromInputMethod(event)) input.key(fieldsOf(event), "up");
        }}
        onCompositionUpdate={(event) => input.compose(event.data)}
        onCompositionEnd={(event) => {
          if (event.data) input.text(event.data);
          else input.compose("");
          event.currentTarget.value = "";
        }}
        onInput={(event) => sendTyped(input, event)}
        onPaste={paste}
        className={cn(
          "absolute inset-0 block size-full cursor-default resize-none overflow-hidden text-transparent caret-transparent opacity-0 outline-none",
          hasControl && "touch-none",
        )}
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

/** Whether the person has the keyboard of a Mac. The server does not know it, and sends no input. */
const isApple = (): boolean => typeof navigator !== "undefined" && isApplePlatform(navigator.platform);

/**
 * Returns an object that sends input to the live page, and a function that converts a mouse position to page
 * coordinates.
 */
function usePageInput(surface: Surface, page: PageSize) {
  const { live, store } = useRuntime();
  const input = useMemo(
    () =>
      createPageInput((frame) => store.getState().control === "you" && live.send(frame), {
        isApple: isApple(),
      }),
    [live, store],
  );
  const pageRef = useRef(page);
  pageRef.current = page;

  // Not `onWheel`: React's wheel listener is passive, so it cannot prevent the session page from scrolling.
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      if (store.getState().control !== "you") return;
      event.preventDefault();
      input.wheel(pointInPage(event, element.getBoundingClientRect(), pageRef.current), event);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [surface, input, store]);

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

/** The text of a dead key, such as ´, arrives with the next key. */
const INPUT_METHOD_KEYS = ["Process", "Unidentified", "Dead"];

/**
 * Whether an input method or an on-screen keyboard handles the key. The text of such a key arrives with an input event
 * or, if the text is composed, with the events of the composition.
 */
const isFromInputMethod = ({ key, nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || INPUT_METHOD_KEYS.includes(key);

/** The fields of a key. React's event does not know all modifiers of the browser's event. */
const fieldsOf = ({ nativeEvent }: KeyboardEvent) => nativeEvent;

const PLAIN_ESCAPE = "Escape";

/** Handles a key of a visitor without control: Esc leaves, Tab moves on, and a key that would type shows the hint. */
function refuseKey(event: KeyboardEvent, leave: () => void, onRefused: () => void): void {
  if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (event.key === "Escape") {
    leave();
    return;
  }
  event.stopPropagation();
  if (event.key.length === 1 || event.key === "Enter" || event.key === "Backspace") onRefused();
}

function sendKeyDown(input: PageInput, event: KeyboardEvent, leave: () => void): void {
  if (isFromInputMethod(event)) return;
  event.preventDefault();
  if (event.key !== PLAIN_ESCAPE) {
    event.stopPropagation();
    input.key(fieldsOf(event), "down");
  } else if (event.shiftKey) input.tap(PLAIN_ESCAPE);
  else leave();
}

/** Keys of on-screen keyboards that arrive without a key event, by the `inputType` of their input event. */
const KEYS_OF_INPUT: Readonly<Record<string, string>> = {
  deleteContentBackward: "Backspace",
  insertLineBreak: "Enter",
  insertParagraph: "Enter",
};

/**
 * Sends text that no key event names, such as the text of an on-screen keyboard. Ignores a composition that has not
 * ended.
 */
function sendTyped(input: PageInput, event: FormEvent<HTMLTextAreaElement>): void {
  // The native event of `input` is an InputEvent.
  const { isComposing, inputType, data } = event.nativeEvent as InputEvent;
  if (isComposing) return;
  const key = KEYS_OF_INPUT[inputType];
  if (inputType === "insertText" && data) input.text(data);
  else if (key !== undefined) input.tap(key);
  event.currentTarget.value = "";
}
