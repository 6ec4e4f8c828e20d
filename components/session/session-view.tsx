"use client";

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { LiveStage } from "#components/live/live-stage.tsx";
import { TestRunAnnouncer } from "#components/test-runs/test-run-announcer.tsx";
import { cn } from "#components/ui/cn.ts";
import { lazily } from "#components/ui/lazily.tsx";
import { useEver } from "#components/ui/use-ever.ts";
import type { DrawerTab } from "#lib/page/state/drawer-tabs.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import { DrawerContext, type DrawerState } from "../runtime/drawer-context.tsx";
import { RecordingContext, type RecordingState } from "../runtime/recording-context.tsx";
import { SessionProvider } from "../runtime/session-context.tsx";
import { Composer } from "./composer/composer.tsx";
import { StopProvider } from "./composer/stop-context.tsx";
import { Conversation } from "./conversation/conversation.tsx";
import { Drawer } from "./drawer/drawer.tsx";
import { PaneSplitter } from "./pane-splitter.tsx";
import { type Pane, PaneTabs } from "./pane-tabs.tsx";
import { SessionHeader } from "./session-header.tsx";
import { StateAnnouncer } from "./state-announcer.tsx";
import { TabState } from "./tab-state.tsx";
import { useOpenResult } from "./use-open-result.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const HelpDialog = lazily(async () => (await import("./help-dialog.tsx")).HelpDialog);
const SkillsDialog = lazily(async () => (await import("./skills-dialog.tsx")).SkillsDialog);
const ShareDialog = lazily(async () => (await import("./share/share-dialog.tsx")).ShareDialog);
const ImportDialog = lazily(async () => (await import("./imports/import-dialog.tsx")).ImportDialog);

/** Shows the page of a session or of a sub-agent. */
export function SessionView({ snapshot }: { snapshot: SessionSnapshot }) {
  return (
    <SessionProvider snapshot={snapshot}>
      <StopProvider>
        <SessionLayout
          hasBrowser={snapshot.session.hasBrowser}
          isSubAgent={snapshot.agent !== null}
          hasResult={
            snapshot.variants.length > 0 || snapshot.deliverables.some(({ status }) => status !== "pending")
          }
        />
      </StopProvider>
    </SessionProvider>
  );
}

/**
 * Arranges the parts of the page. A narrow page has the same elements as a wide page and only hides panes, so that
 * resizing the window loses no state.
 */
function SessionLayout({
  hasBrowser,
  hasResult,
  isSubAgent,
}: {
  hasBrowser: boolean;
  hasResult: boolean;
  isSubAgent: boolean;
}) {
  const [pane, setPane] = useState<Pane>("conversation");
  const [tab, setTab] = useState<DrawerTab | null>(hasResult ? "result" : null);
  const [wasClosed, setClosed] = useState(false);
  const [resultRunId, setResultRunId] = useState<string | null>(null);
  const [variantKey, setVariantKey] = useState<string | null>(null);
  const [testRunId, setTestRunId] = useState<string | null>(null);
  const [annotationId, setAnnotationId] = useState<string | null>(null);
  const [isAddingRequirement, setAddingRequirement] = useState(false);
  const drawer = useMemo<DrawerState>(
    () => ({
      tab,
      resultRunId,
      variantKey,
      testRunId,
      annotationId,
      isAddingRequirement,
      open(opened, chosen = {}) {
        setTab(opened);
        if (chosen.resultRunId !== undefined) setResultRunId(chosen.resultRunId);
        if (chosen.variantKey !== undefined) setVariantKey(chosen.variantKey);
        if (chosen.testRunId !== undefined) setTestRunId(chosen.testRunId);
        setAnnotationId(chosen.annotationId ?? null);
        setAddingRequirement(chosen.isAddingRequirement ?? false);
        setPane("result");
      },
      close() {
        setTab(null);
        setClosed(true);
      },
    }),
    [tab, resultRunId, variantKey, testRunId, annotationId, isAddingRequirement],
  );
  // Opens the Agents tab for a visitor who comes back from a sub-agent's page. The link on that page ends in `#agents`.
  useEffect(() => {
    if (location.hash !== "#agents") return;
    setTab("agents");
    setPane("result");
  }, []);
  const [shownMoment, setShownMoment] = useState<Pick<RecordingState, "isOpen" | "moment">>({
    isOpen: false,
    moment: null,
  });
  const recording = useMemo<RecordingState>(
    () => ({
      ...shownMoment,
      open(moment = null) {
        setShownMoment({ isOpen: true, moment });
        setPane("browser");
      },
      follow: (moment) => setShownMoment(({ isOpen }) => ({ isOpen, moment })),
      close: () => setShownMoment({ isOpen: false, moment: null }),
    }),
    [shownMoment],
  );
  useOpenResult(tab === null && !wasClosed, () => setTab("result"));
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isShareOpen, setShareOpen] = useState(false);
  const [isImportOpen, setImportOpen] = useState(false);
  const [areSkillsOpen, setSkillsOpen] = useState(false);
  const wasHelpOpen = useEver(isHelpOpen);
  const wasShareOpen = useEver(isShareOpen);
  const wasImportOpen = useEver(isImportOpen);
  const wereSkillsOpen = useEver(areSkillsOpen);
  const isWide = useIsWide();
  const composer = useRef<HTMLTextAreaElement>(null);
  const conversation = useRef<HTMLDivElement>(null);
  const surface = useRef<HTMLTextAreaElement>(null);
  const main = useRef<HTMLElement>(null);
  useShortcuts({
    composer,
    conversation,
    surface,
    showBrowser: () => setPane("browser"),
    openHelp: () => setHelpOpen(true),
  });
  const hideUnless = (shown: Pane) => pane !== shown && "max-lg:hidden";

  return (
    <DrawerContext value={drawer}>
      <RecordingContext value={hasBrowser && !isSubAgent ? recording : undefined}>
        <div className="flex h-dvh flex-col bg-canvas">
          <SessionHeader
            openHelp={() => setHelpOpen(true)}
            openShare={() => setShareOpen(true)}
            openImport={() => setImportOpen(true)}
            openSkills={() => setSkillsOpen(true)}
          />
          <PaneTabs pane={pane} onChange={setPane} hasBrowser={hasBrowser} />
          <main
            ref={main}
            className={cn(
              "grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)_auto]",
              hasBrowser
                ? "lg:grid-cols-[var(--conversation,clamp(400px,34vw,480px))_minmax(0,1fr)]"
                : "lg:grid-cols-[minmax(0,1fr)_clamp(400px,40vw,560px)]",
            )}
          >
            <div className={cn("col-start-1 row-start-1 min-h-0", hideUnless("conversation"))}>
              <Conversation scroller={conversation} />
            </div>
            <Composer
              textarea={composer}
              showBrowser={() => setPane("browser")}
              className={cn("col-start-1 row-start-2", !hasBrowser && "lg:px-[max(12px,calc(50%-348px))]")}
            />
            <div className="contents lg:relative lg:col-start-2 lg:row-span-2 lg:row-start-1 lg:flex lg:min-h-0 lg:flex-col lg:border-l">
              {hasBrowser && <PaneSplitter panes={main} />}
              {hasBrowser && (
                <div className={cn("flex min-h-0 flex-1 flex-col max-lg:row-start-1", hideUnless("browser"))}>
                  <LiveStage surface={surface} isShown={isWide || pane === "browser"} />
                </div>
              )}
              <Drawer
                isAlone={!hasBrowser}
                isShown={tab !== null || !hasBrowser || pane === "result"}
                className={cn("max-lg:row-start-1", hideUnless("result"))}
              />
            </div>
          </main>
          {wasHelpOpen && (
            <HelpDialog isOpen={isHelpOpen} onOpenChange={setHelpOpen} hasBrowser={hasBrowser} />
          )}
          {wereSkillsOpen && <SkillsDialog isOpen={areSkillsOpen} onOpenChange={setSkillsOpen} />}
          {wasShareOpen && <ShareDialog isOpen={isShareOpen} onOpenChange={setShareOpen} />}
          {wasImportOpen && <ImportDialog isOpen={isImportOpen} onOpenChange={setImportOpen} />}
          <StateAnnouncer />
          <TestRunAnnouncer />
          <TabState />
        </div>
      </RecordingContext>
    </DrawerContext>
  );
}

const WIDE_QUERY = "(min-width: 1024px)";

function subscribeToWidth(listener: () => void): () => void {
  const media = matchMedia(WIDE_QUERY);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
}

/**
 * Returns whether the conversation and the live browser fit next to each other. False on the server, where the width is
 * unknown.
 */
const useIsWide = (): boolean =>
  useSyncExternalStore(
    subscribeToWidth,
    () => matchMedia(WIDE_QUERY).matches,
    () => false,
  );
