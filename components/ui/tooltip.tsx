"use client";

import { type ReactNode, useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Kbd } from "./kbd.tsx";

const DELAY_MS = 400;
const GAP_PX = 6;
const EDGE_PX = 8;

/**
 * Shows a description of a control on hover and on focus. It is a popover of the browser, so that nothing covers it.
 * Source: decision 116.
 */
export function Tooltip({ label, keys, children }: { label: ReactNode; keys?: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const frame = useRef<HTMLSpanElement>(null);
  const show = useCallback((afterMs: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(true), afterMs);
  }, []);
  const hide = useCallback(() => {
    clearTimeout(timer.current);
    // Not at once: while the focus moves, Radix takes an element that disappears in a dialog for the one that had the
    // focus, and moves the focus back to the dialog.
    timer.current = setTimeout(() => setOpen(false));
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only observes the control in it
    <span
      ref={frame}
      className="contents"
      onPointerEnter={({ pointerType }) => pointerType !== "touch" && show(DELAY_MS)}
      onPointerLeave={hide}
      onPointerDown={hide}
      onFocus={({ target }) => target.matches(":focus-visible") && show(0)}
      onBlur={hide}
      onKeyDown={({ key }) => key === "Escape" && hide()}
    >
      {children}
      {isOpen && <Popup anchor={frame}>{[label, keys && <Kbd key="keys">{keys}</Kbd>]}</Popup>}
    </span>
  );
}

/**
 * Shows the description below its control, or above it where there is no space below. Screen readers also get what the
 * control's own name does not say.
 */
function Popup({ anchor, children }: { anchor: { current: HTMLElement | null }; children: ReactNode }) {
  const popup = useRef<HTMLSpanElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = popup.current;
    const control = anchor.current?.firstElementChild;
    if (!element || !control) return;
    element.showPopover();
    const at = control.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const below = at.bottom + GAP_PX;
    const isBelow = below + height <= window.innerHeight - EDGE_PX;
    const left = at.left + (at.width - width) / 2;
    element.style.top = `${isBelow ? below : at.top - GAP_PX - height}px`;
    element.style.left = `${Math.max(EDGE_PX, Math.min(left, window.innerWidth - EDGE_PX - width))}px`;
    const name = control.getAttribute("aria-label") ?? control.textContent ?? "";
    if (name.includes(element.textContent ?? "") || control.hasAttribute("aria-describedby")) return;
    control.setAttribute("aria-describedby", id);
    return () => control.removeAttribute("aria-describedby");
  }, [anchor, id]);
  return (
    <span
      ref={popup}
      id={id}
      popover="manual"
      role="tooltip"
      className="pointer-events-none fixed inset-auto m-0 flex w-max max-w-72 items-center gap-2 rounded-md border border-line bg-raised px-2 py-1 text-left font-normal text-ink text-xs shadow-(color:--shadow-color) shadow-lg"
    >
      {children}
    </span>
  );
}
