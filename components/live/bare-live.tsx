"use client";

import { useRef } from "react";
import { SessionProvider } from "#components/runtime/session-context.tsx";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import { LiveStage } from "./live-stage.tsx";

/** Shows only the live view of a session. The API returns the address of this page as `liveViewUrl`. */
export function BareLive({ snapshot }: { snapshot: SessionSnapshot }) {
  const surface = useRef<HTMLTextAreaElement>(null);
  return (
    <SessionProvider snapshot={snapshot}>
      <main className="flex h-dvh flex-col">
        <h1 className="sr-only">Live browser of “{snapshot.session.title}”</h1>
        <LiveStage surface={surface} isShown />
      </main>
    </SessionProvider>
  );
}
