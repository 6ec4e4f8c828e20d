"use client";

import { useEffect, useRef, useState } from "react";
import { useTitleMark } from "#components/ui/use-title-mark.ts";
import { describeTab } from "#lib/page/labels/describe-tab.ts";
import { isWorking } from "#lib/page/state/session-state.ts";
import { useSession } from "../runtime/session-context.tsx";
import { drawIcon } from "./draw-icon.ts";

/** Shows the session's state in the title and on the icon of the browser's tab. */
export function TabState() {
  const state = useSession();
  const isHidden = useIsHidden();
  const endedUnseen = useEndedUnseen(isWorking(state), isHidden);
  const words = describeTab(state, endedUnseen);
  const tone = words?.tone ?? null;
  useTitleMark(words?.mark ?? null);

  useEffect(() => {
    if (tone === null) return;
    let own = "";
    let original: { link: HTMLLinkElement; href: string } | undefined;
    const add = () => {
      const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
      if (!link || link.href === own) return;
      original ??= { link, href: link.href };
      own = drawIcon(tone);
      link.href = own;
      own = link.href;
    };
    add();
    const observer = new MutationObserver(add);
    observer.observe(document.head, { childList: true });
    return () => {
      observer.disconnect();
      if (original) original.link.href = original.href;
    };
  }, [tone]);
  return null;
}

/** Whether a turn ended while the tab was hidden, and the tab has not been shown since. */
function useEndedUnseen(isBusy: boolean, isHidden: boolean): boolean {
  const [isUnseen, setUnseen] = useState(false);
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (!isHidden || isBusy) setUnseen(false);
    else if (wasBusy.current) setUnseen(true);
    wasBusy.current = isBusy;
  }, [isBusy, isHidden]);
  return isUnseen;
}

function useIsHidden(): boolean {
  const [isHidden, setHidden] = useState(false);
  useEffect(() => {
    const read = () => setHidden(document.hidden);
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, []);
  return isHidden;
}
