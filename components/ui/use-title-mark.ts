"use client";

import { useEffect } from "react";

/** Shows a mark before the title of the browser's tab; null removes it. */
export function useTitleMark(mark: string | null): void {
  useEffect(() => {
    if (mark === null) return;
    const before = `${mark} · `;
    const add = () => {
      if (!document.title.startsWith(before)) document.title = before + document.title;
    };
    add();
    // If the page's metadata arrives after the page, Next sets the title again, and the mark has to be added again.
    const observer = new MutationObserver(add);
    observer.observe(document.head, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      document.title = document.title.replace(before, "");
    };
  }, [mark]);
}
