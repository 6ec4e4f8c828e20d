"use client";

import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import type { LiveStatus } from "#lib/client/live-connection.ts";
import type { FrameAccess } from "#lib/page/frame/frame-access.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { SessionState } from "#lib/page/state/session-state.ts";
import { createSessionRuntime, type SessionRuntime } from "./session-runtime.ts";

const SessionContext = createContext<{ runtime: SessionRuntime; live: LiveStatus } | undefined>(undefined);

/** Connects the page to its session while the provider is mounted. */
export function SessionProvider({
  snapshot,
  frame,
  children,
}: {
  snapshot: SessionSnapshot;
  /** How the page of a frame proves its access; undefined on other pages. */
  frame?: FrameAccess;
  children: ReactNode;
}) {
  const [runtime] = useState(() => createSessionRuntime(snapshot, frame));
  const [live, setLive] = useState<LiveStatus>({ state: "connecting" });
  useEffect(() => runtime.connect(setLive), [runtime]);
  return <SessionContext value={{ runtime, live }}>{children}</SessionContext>;
}

function useSessionContext() {
  const context = use(SessionContext);
  if (!context) throw new Error("a component of the session page is used outside its SessionProvider");
  return context;
}

/** Returns the page's store, actions and live connection. The object never changes. */
export const useRuntime = (): SessionRuntime => useSessionContext().runtime;

/** Returns how the page of a frame proves its access. Undefined on other pages, also on those without a session. */
export const useFrameAccess = (): FrameAccess | undefined => use(SessionContext)?.runtime.frame;

/** Returns the status of the live connection. */
export const useLiveStatus = (): LiveStatus => useSessionContext().live;

/** Returns the current state of the session. */
export function useSession(): SessionState {
  const { store } = useRuntime();
  return useSyncExternalStore(store.subscribe, store.getState, store.getState);
}
