"use client";

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useLiveStatus, useRuntime } from "#components/runtime/session-context.tsx";
import { AddressBar } from "./address-bar.tsx";
import { LiveView } from "./live-view.tsx";

/** Selector of the address bar. The person keeps control while the address bar has the focus. */
const CONTROLS = "[data-live-controls]";

/**
 * Shows the live browser: the address bar and the page. Focusing the page takes control. Control is released when
 * neither the page nor the address bar has the focus.
 */
export function LiveStage({
  surface,
  isShown,
}: {
  surface: RefObject<HTMLTextAreaElement | null>;
  isShown: boolean;
}) {
  const { live } = useRuntime();
  const stage = useRef<HTMLElement>(null);
  const [hasFocus, setFocus] = useState(false);
  const isConnected = useLiveStatus().state === "open";
  const takeControl = useCallback(() => live.send({ type: "control.take" }), [live]);
  const takeByButton = useCallback(() => {
    takeControl();
    surface.current?.focus({ preventScroll: true });
  }, [surface, takeControl]);
  // Runs again after a reconnect, because the service released control when the old connection ended.
  useEffect(() => {
    if (hasFocus && isConnected) takeControl();
  }, [hasFocus, isConnected, takeControl]);
  useEffect(() => {
    const element = stage.current;
    const releaseOutside = ({ relatedTarget: next }: FocusEvent) => {
      const stays = next instanceof Element && (next === surface.current || next.closest(CONTROLS));
      if (!stays) live.send({ type: "control.release" });
    };
    element?.addEventListener("focusout", releaseOutside);
    return () => element?.removeEventListener("focusout", releaseOutside);
  }, [live, surface]);
  return (
    <section ref={stage} aria-label="Live browser" className="flex min-h-0 flex-1 flex-col">
      <AddressBar hasFocus={hasFocus} takeControl={takeByButton} />
      <LiveView
        surface={surface}
        isShown={isShown}
        hasFocus={hasFocus}
        onFocusChange={setFocus}
        takeControl={takeControl}
      />
    </section>
  );
}
