"use client";

import { type RefObject, useCallback, useEffect, useState } from "react";
import { useLiveStatus, useRuntime } from "#components/session/session-context.tsx";
import { AddressBar } from "./address-bar.tsx";
import { LiveView } from "./live-view.tsx";

/** The live browser: address bar and page. Taking the page's focus takes control, leaving gives it back. */
export function LiveStage({
  surface,
  isShown,
}: {
  surface: RefObject<HTMLTextAreaElement | null>;
  isShown: boolean;
}) {
  const { live } = useRuntime();
  const [hasFocus, setFocus] = useState(false);
  const isConnected = useLiveStatus().state === "open";
  const changeFocus = useCallback(
    (focused: boolean) => {
      setFocus(focused);
      if (!focused) live.send({ type: "control.release" });
    },
    [live],
  );
  const takeControl = useCallback(() => live.send({ type: "control.take" }), [live]);
  // Also when the connection has come back in the meantime: the service let the controls go with the old one.
  useEffect(() => {
    if (hasFocus && isConnected) takeControl();
  }, [hasFocus, isConnected, takeControl]);
  return (
    <section aria-label="Live browser" className="flex min-h-0 flex-1 flex-col">
      <AddressBar hasFocus={hasFocus} />
      <LiveView
        surface={surface}
        isShown={isShown}
        hasFocus={hasFocus}
        onFocusChange={changeFocus}
        takeControl={takeControl}
      />
    </section>
  );
}
