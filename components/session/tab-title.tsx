"use client";

import { useEffect } from "react";
import { useSession } from "./session-context.tsx";

/** Says in the browser's tab that a question of the agent is open. */
export function TabTitle() {
  const { elicitations } = useSession();
  const isAsked = elicitations.length > 0;
  useEffect(() => {
    if (!isAsked) return;
    const { title } = document;
    document.title = `Question · ${title}`;
    return () => {
      document.title = title;
    };
  }, [isAsked]);
  return null;
}
