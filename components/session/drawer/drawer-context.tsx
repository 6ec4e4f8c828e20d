"use client";

import { createContext, use } from "react";

export const DRAWER_TABS = ["result", "annotations", "evidence", "activity"] as const;
export type DrawerTab = (typeof DRAWER_TABS)[number];

/** Which tab of the drawer is open; null where it is closed. */
export type DrawerState = {
  tab: DrawerTab | null;
  /** The run whose result was asked for; null for the newest. */
  resultRunId: string | null;
  open: (tab: DrawerTab, resultRunId?: string | null) => void;
  close: () => void;
};

export const DrawerContext = createContext<DrawerState | undefined>(undefined);

/** The drawer under the stage, from anywhere on the page. */
export function useDrawer(): DrawerState {
  const drawer = use(DrawerContext);
  if (!drawer) throw new Error("the drawer is used outside the session page");
  return drawer;
}
