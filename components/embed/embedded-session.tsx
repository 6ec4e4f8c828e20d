"use client";

import { type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import type { LiveStatus } from "#lib/client/live-connection.ts";
import type { FrameAccess } from "#lib/page/frame/frame-access.ts";
import type { HostLink } from "#lib/page/frame/host-link.ts";
import { type HostReports, startReports } from "#lib/page/frame/report-to-host.ts";
import { runCommand } from "#lib/page/frame/run-command.ts";
import type { DrawerTab } from "#lib/page/state/drawer-tabs.ts";
import { DrawerContext, type DrawerState } from "../runtime/drawer-context.tsx";
import { SessionProvider, useLiveStatus, useRuntime, useSession } from "../runtime/session-context.tsx";
import { StopProvider } from "../session/composer/stop-context.tsx";
import { StateAnnouncer } from "../session/state-announcer.tsx";
import { Button } from "../ui/button.tsx";
import { BothPanes } from "./both-panes.tsx";
import { ConversationPane } from "./conversation-pane.tsx";
import { LivePane } from "./live-pane.tsx";
import { ResultPane } from "./result-pane.tsx";
import { saveFile } from "./save-file.ts";
import type { EmbeddedSessionProps } from "./shown-frame.ts";

/** Shows a session in a frame, and exchanges messages with the host page. */
export function EmbeddedSession(props: EmbeddedSessionProps) {
  const { access, frame } = props;
  return (
    <SessionProvider snapshot={frame.snapshot} frame={access}>
      <StopProvider>
        <HostExchange {...props} />
        <EmbedLayout {...props} />
      </StopProvider>
    </SessionProvider>
  );
}

/** Arranges the panes. Results open in a pane of their own, above the others. */
function EmbedLayout({ view, access, link, allowed }: EmbeddedSessionProps) {
  const { session } = useSession();
  const [tab, setTab] = useState<DrawerTab | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Pick<DrawerState, Chosen>>(NOTHING_CHOSEN);
  const drawer = useMemo<DrawerState>(
    () => ({
      tab,
      ...chosen,
      open(opened, more = {}) {
        setTab(opened);
        setChosen((last) => ({ ...last, annotationId: null, isAddingRequirement: false, ...more }));
      },
      close: () => setTab(null),
    }),
    [tab, chosen],
  );
  const onHeight = useHeightReport(link, allowed);
  return (
    <DrawerContext value={drawer}>
      <div className="contents" onClickCapture={(event) => followLink(event, access, setProblem)}>
        <main className="relative flex h-dvh flex-col bg-canvas">
          <h1 className="sr-only">{session.title}</h1>
          {view === "live" && <LivePane />}
          {view === "conversation" && <ConversationPane onHeight={onHeight} />}
          {view === "both" && <BothPanes onHeight={onHeight} />}
          {tab !== null && <ResultPane />}
          {problem !== null && (
            <div className="absolute inset-x-2 bottom-2 z-20 flex items-center gap-2 rounded-md border bg-surface p-2">
              <p role="alert" className="min-w-0 flex-1 text-bad text-sm [overflow-wrap:anywhere]">
                {problem}
              </p>
              <Button size="sm" onClick={() => setProblem(null)}>
                Close
              </Button>
            </div>
          )}
        </main>
        <StateAnnouncer />
      </div>
    </DrawerContext>
  );
}

/** Returns a function that reports the height of the conversation, if necessary once the host page is known. */
function useHeightReport(link: HostLink | undefined, allowed: Promise<boolean>): (height: number) => void {
  const last = useRef<number | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void allowed.then(() => {
      if (isCurrent && last.current !== null) link?.post({ type: "height", height: last.current });
    });
    return () => {
      isCurrent = false;
    };
  }, [link, allowed]);
  return (height) => {
    last.current = height;
    link?.post({ type: "height", height });
  };
}

type Chosen = "resultRunId" | "variantKey" | "testRunId" | "annotationId" | "isAddingRequirement";
const NOTHING_CHOSEN = {
  resultRunId: null,
  variantKey: null,
  testRunId: null,
  annotationId: null,
  isAddingRequirement: false,
};

/**
 * Handles clicks on links to the service itself, which need the token: files are read and saved, and pages open in a tab
 * of their own, as with a share link.
 *
 * @param onProblem is called with why a file was not saved, and with null if it was.
 */
function followLink(
  event: MouseEvent,
  access: FrameAccess,
  onProblem: (problem: string | null) => void,
): void {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin) return;
  const path = `${link.pathname}${link.search}${link.hash}`;
  const isPage = /^\/s\/[^/]+(\/agents\/[^/]+|\/reports\/[^/]+)?$/.test(link.pathname);
  if (!isPage && !/^\/(api|s)\//.test(link.pathname)) return;
  event.preventDefault();
  if (isPage) window.open(access.linkTo(path), "_blank", "noopener");
  else void saveFile(access, path, link.download).then(onProblem);
}

/** Reports to the host page, runs its commands, and ends the frame when the connection is refused. Shows nothing. */
function HostExchange({ link, allowed, frame: { scope }, onCommand, onEnd }: EmbeddedSessionProps) {
  const { store, actions, live } = useRuntime();
  const status = useLiveStatus();
  const reports = useRef<HostReports | null>(null);
  const latest = useRef<LiveStatus>(status);
  useEffect(() => {
    if (!link) return;
    const post = link.post;
    let isCurrent = true;
    // Earlier, the link would drop the reports.
    void allowed.then(() => {
      if (isCurrent) reports.current = startReports({ store, scope, post }, latest.current);
    });
    onCommand((command) => void runCommand({ store, actions, live }, command).then(post));
    return () => {
      isCurrent = false;
      onCommand(null);
      reports.current?.stop();
      reports.current = null;
    };
  }, [link, allowed, store, actions, live, scope, onCommand]);
  useEffect(() => {
    latest.current = status;
    if (status.state === "closed") {
      if (status.reason !== "left") onEnd(status.reason);
    } else reports.current?.setStatus(status);
  }, [status, onEnd]);
  return null;
}
