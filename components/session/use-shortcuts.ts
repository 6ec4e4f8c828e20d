"use client";

import { type RefObject, useEffect, useRef } from "react";
import { isStopping, isWorking, mayStop } from "#lib/page/state/session-state.ts";
import { useRuntime } from "../runtime/session-context.tsx";
import { useStop } from "./composer/stop-context.tsx";

type ShortcutTargets = {
  composer: RefObject<HTMLTextAreaElement | null>;
  conversation: RefObject<HTMLDivElement | null>;
  surface: RefObject<HTMLTextAreaElement | null>;
  showBrowser: () => void;
  openHelp: () => void;
};

/** Handles the shortcuts of the session page, unless a menu, a dialog, a field or the live view has handled the key. */
export function useShortcuts(places: ShortcutTargets): void {
  const { store } = useRuntime();
  const stopping = useStop();
  const latest = useRef({ ...places, ...stopping });
  useEffect(() => {
    latest.current = { ...places, ...stopping };
  });

  useEffect(() => {
    /**
     * Handles Esc. In a field, Esc leaves the field. If this visitor can stop the agent now, the second press stops the
     * agent, but only outside of fields and in an empty message box.
     */
    function leave(event: KeyboardEvent): void {
      // Ignores the repeated events of a key that is held down, so that holding Esc does not stop the agent.
      if (event.repeat) return;
      const { composer, isArmed, arm, stop } = latest.current;
      const state = store.getState();
      const canStop = isWorking(state) && !isStopping(state) && mayStop(state);
      const isEmptyComposer = event.target === composer.current && composer.current?.value === "";
      if (isTyping(event.target) && !(isEmptyComposer && canStop)) event.target.blur();
      else if (canStop && isArmed) void stop();
      else if (canStop) arm();
    }
    function handleKey(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return;
      if (event.key === "Escape") {
        leave(event);
        return;
      }
      const { composer, conversation, surface, showBrowser, openHelp } = latest.current;
      if (isTyping(event.target)) return;
      const act = {
        "/": () => composer.current?.focus(),
        "?": openHelp,
        j: () => conversation.current && step(conversation.current, 1),
        k: () => conversation.current && step(conversation.current, -1),
        b() {
          showBrowser();
          // Waits for the next frame, because the pane of the live browser may be hidden until then.
          requestAnimationFrame(() => surface.current?.focus());
        },
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }
    window.addEventListener("keydown", handleKey);
    return () => window.removeEventListener("keydown", handleKey);
  }, [store]);
}

const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]") !== null;

/**
 * Moves the focus to the next or previous item of the conversation. If no item has the focus, moves it to the last
 * item.
 */
function step(conversation: HTMLElement, by: 1 | -1): void {
  const items = [...conversation.querySelectorAll<HTMLElement>("[data-item]")];
  const current = items.findIndex((item) => item.contains(document.activeElement));
  const next = current < 0 ? items.length - 1 : Math.max(0, Math.min(items.length - 1, current + by));
  items[next]?.focus();
}
