"use client";

import { useState } from "react";
import type { SessionState } from "#lib/api/client/session-state.ts";
import type { DrawerTab } from "./drawer-context.tsx";

/** How much each tab holds; a change is news. Activity changes all the time and is never news. */
export const countsOf = (state: SessionState): Record<DrawerTab, number> => ({
  result: state.deliverables.filter(({ status }) => status !== "pending").length,
  annotations: state.annotations.length,
  evidence: Object.values(state.toolCalls).reduce((sum, { evidence }) => sum + evidence.length, 0),
  activity: 0,
});

/** Which tabs hold something that was not there when they were last open. */
export function useNews(
  counts: Record<DrawerTab, number>,
  openTab: DrawerTab | null,
): (tab: DrawerTab) => boolean {
  const [seen, setSeen] = useState(counts);
  if (openTab && seen[openTab] !== counts[openTab]) setSeen({ ...seen, [openTab]: counts[openTab] });
  return (tab) => tab !== openTab && counts[tab] > seen[tab];
}
