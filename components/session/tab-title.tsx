"use client";

import { useEffect } from "react";
import { useSession } from "../runtime/session-context.tsx";

const MARK = "Question · ";

/** Marks the title of the browser's tab while a question of the agent is open. */
export function TabTitle() {
  const { elicitations } = useSession();
  const hasQuestion = elicitations.length > 0;
  useEffect(() => {
    if (!hasQuestion) return;
    const mark = () => {
      if (!document.title.startsWith(MARK)) document.title = MARK + document.title;
    };
    mark();
    // If the page's metadata arrives after the page, Next sets the title again, and the mark has to be added again.
    const observer = new MutationObserver(mark);
    observer.observe(document.head, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      document.title = document.title.replace(MARK, "");
    };
  }, [hasQuestion]);
  return null;
}
