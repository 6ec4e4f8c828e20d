"use client";

import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";
import { FileRequest } from "./file-request.tsx";
import { OptionList } from "./option-list.tsx";
import { PageDialog } from "./page-dialog.tsx";
import { type Picture, placeAtControl } from "./place-at-control.ts";
import { Suggestions } from "./suggestions.tsx";
import { ValuePicker } from "./value-picker.tsx";

/** Shows a control of the live page to the person who has control, and sends the answer. */
export function OwnWidget({
  widget,
  picture,
  surface,
}: {
  widget: Widget;
  picture: Picture;
  surface: RefObject<HTMLTextAreaElement | null>;
}) {
  const { live } = useRuntime();
  const frame = useRef<HTMLDivElement>(null);
  const answer = useCallback(
    (given: WidgetAnswer) => {
      // The focus goes back before the widget disappears, so that the person types in the page again.
      if (frame.current?.contains(document.activeElement)) surface.current?.focus({ preventScroll: true });
      live.send({ type: "input.widget", widgetId: widget.id, answer: given });
    },
    [live, surface, widget.id],
  );
  // Also if the page ends the widget.
  useLayoutEffect(() => {
    const element = frame.current;
    return () => {
      if (element?.contains(document.activeElement)) surface.current?.focus({ preventScroll: true });
    };
  }, [surface]);
  const cancel = useCallback(() => answer({ kind: "cancel" }), [answer]);
  const place = "box" in widget ? placeAtControl(widget.box, picture) : null;

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it gets only keys that its controls do not handle
    <div
      ref={(element) => {
        frame.current = element;
        if (!element || !place) return;
        const { left, top, width, height } = place;
        Object.assign(element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px` });
        element.style.setProperty("--room", `${height}px`);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Escape would otherwise also stop the agent.
        event.preventDefault();
        event.stopPropagation();
        cancel();
      }}
      className={
        place ? "absolute z-10" : "absolute inset-0 z-10 flex items-center justify-center bg-sunken/60 p-3"
      }
    >
      {widget.kind === "dialog" && <PageDialog widget={widget} answer={answer} />}
      {widget.kind === "select" && <OptionList widget={widget} answer={answer} cancel={cancel} />}
      {widget.kind === "picker" && <ValuePicker widget={widget} answer={answer} cancel={cancel} />}
      {widget.kind === "suggestions" && <Suggestions widget={widget} answer={answer} />}
      {widget.kind === "files" && <FileRequest widget={widget} answer={answer} cancel={cancel} />}
    </div>
  );
}
