"use client";

import { type RefObject, useCallback, useState } from "react";
import { useRuntime } from "#components/session/session-context.tsx";
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
  const changeFocus = useCallback(
    (focused: boolean) => {
      setFocus(focused);
      live.send({ type: focused ? "control.take" : "control.release" });
    },
    [live],
  );
  return (
    <section aria-label="Live browser" className="flex min-h-0 flex-1 flex-col">
      <AddressBar hasFocus={hasFocus} />
      <LiveView surface={surface} isShown={isShown} hasFocus={hasFocus} onFocusChange={changeFocus} />
    </section>
  );
}
