"use client";

import { createContext, use } from "react";
import type { DrawerTab } from "#lib/page/state/drawer-tabs.ts";

/** What an opened tab shows. If the run, variant or test run is omitted, the earlier choice remains. */
type Chosen = {
  /** The run whose result is shown; null for the newest result. */
  resultRunId?: string | null;
  variantKey?: string;
  testRunId?: string;
  /** The annotation that is scrolled to. */
  annotationId?: string;
  /** Whether the form for a new requirement is open; default false. */
  isAddingRequirement?: boolean;
};

/** The state of the drawer. `tab` is the open tab; null while the drawer is closed. */
export type DrawerState = {
  tab: DrawerTab | null;
  /** The run whose result is shown; null for the newest result. */
  resultRunId: string | null;
  /** The variant whose changes are shown; null for the first variant. */
  variantKey: string | null;
  /** The test run that is shown; null for the newest test run. */
  testRunId: string | null;
  /** The annotation that is scrolled to; null if the list is shown from its beginning. */
  annotationId: string | null;
  /** Whether the form for a new requirement is open. */
  isAddingRequirement: boolean;
  open: (tab: DrawerTab, chosen?: Chosen) => void;
  close: () => void;
};

export const DrawerContext = createContext<DrawerState | undefined>(undefined);

/** Returns the state of the drawer. @throws outside the session page. */
export function useDrawer(): DrawerState {
  const drawer = use(DrawerContext);
  if (!drawer) throw new Error("the drawer is used outside the session page");
  return drawer;
}
