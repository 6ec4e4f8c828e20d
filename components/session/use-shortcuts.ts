"use client";

import { type RefObject, useEffect, useRef } from "react";
import { isWorking } from "#lib/api/client/session-state.ts";
import { useRuntime } from "./session-context.tsx";
import { useStop } from "./stop-context.tsx";

type Places = {
  composer: RefObject<HTMLTextAreaElement | null>;
  conversation: RefObject<HTMLDivElement | null>;
  surface: RefObject<HTMLTextAreaElement | null>;
  showBrowser: () => void;
  openHelp: () => void;
};

/** The keys of the session page, heard where nothing else wants them. */
export function useShortcuts(places: Places): void {
  const { store } = useRuntime();
  const { stop } = useStop();
  const latest = useRef(places);
  useEffect(() => {
    latest.current = places;
  });

  useEffect(() => {
    function hear(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return;
      const { composer, conversation, surface, showBrowser, openHelp } = latest.current;
      if (event.key === "Escape") {
        const state = store.getState();
        if (isWorking(state) && state.role === "drive") void stop();
        else if (document.activeElement === composer.current) composer.current?.blur();
        return;
      }
      if (isTyping(event.target)) return;
      const act = {
        "/": () => composer.current?.focus(),
        "?": openHelp,
        j: () => conversation.current && step(conversation.current, 1),
        k: () => conversation.current && step(conversation.current, -1),
        b() {
          showBrowser();
          // The browser's pane may be hidden until the page is drawn anew.
          requestAnimationFrame(() => surface.current?.focus());
        },
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, [store, stop]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]") !== null;

/** Moves the focus to the next or previous item of the conversation; from outside, to the last one. */
function step(conversation: HTMLElement, by: 1 | -1): void {
  const items = [...conversation.querySelectorAll<HTMLElement>("[data-item]")];
  const current = items.findIndex((item) => item.contains(document.activeElement));
  const next = current < 0 ? items.length - 1 : Math.max(0, Math.min(items.length - 1, current + by));
  items[next]?.focus();
}
