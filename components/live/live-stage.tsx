"use client";

import { MessageSquarePlus } from "lucide-react";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useRecording } from "#components/runtime/recording-context.tsx";
import { useLiveStatus, useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { OnDemand } from "#components/ui/menu-button.tsx";
import { AddressBar } from "./address-bar.tsx";
import type { AnnotateTool } from "./annotate/annotate-bar.tsx";
import { ControlNotice } from "./control-notice.tsx";
import { LiveView } from "./live-view.tsx";
import type { PageSize } from "./use-live-pictures.ts";
import { choiceOf, type ViewportChoice } from "./use-viewport.ts";
import { ViewButton } from "./view-button.tsx";

const RecordingView = lazily(async () => (await import("./recording/recording-view.tsx")).RecordingView);
const loadViewMenu = async () => (await import("./view-menu.tsx")).ViewMenu;
const ViewMenu = lazily(loadViewMenu, <ViewButton aria-haspopup="menu" aria-expanded />);
const loadAnnotateBar = async () => (await import("./annotate/annotate-bar.tsx")).AnnotateBar;
const AnnotateBar = lazily(loadAnnotateBar, <div className="h-11 shrink-0 border-b bg-surface" />);

const TabStrip = lazily(async () => (await import("./tab-strip.tsx")).TabStrip);

/** How long the page says that a visitor without control only watches, in milliseconds. */
const HINT_MS = 8_000;

/**
 * Shows the live browser: its tabs, the address bar and the page. Control is taken and given back with buttons only. Focus,
 * other tabs and the message box do not change it.
 */
export function LiveStage({
  surface,
  isShown,
}: {
  surface: RefObject<HTMLTextAreaElement | null>;
  isShown: boolean;
}) {
  const { live } = useRuntime();
  const session = useSession();
  const { control, browser } = session;
  const recording = useRecording();
  const isRecordingShown = recording && (recording.isOpen || browser.status === "expired");
  const stage = useRef<HTMLElement>(null);
  const [hasFocus, setFocus] = useState(false);
  const [hasKeyboard, setKeyboard] = useState(false);
  const [page, setPage] = useState<PageSize | null>(null);
  const [viewport, setViewport] = useState<ViewportChoice>(null);
  const hasControl = control === "you";
  // Another person may have chosen another size in the meantime. `fit` is about this person's own window.
  useEffect(() => {
    if (!hasControl) setViewport((choice) => (choice === "fit" ? choice : null));
  }, [hasControl]);
  // The keyboard opens when the focus moves to the surface, after the menu has returned the focus to its button. Where
  // browsers allow that only for a touch, the next tap in the page opens it.
  useEffect(() => {
    if (!hasKeyboard) return;
    const timer = setTimeout(() => surface.current?.focus({ preventScroll: true }), 50);
    return () => clearTimeout(timer);
  }, [hasKeyboard, surface]);
  const isConnected = useLiveStatus().state === "open";
  const annotating = useAnnotating();
  const tool = recording?.isOpen ? null : annotating.tool;
  const hint = useHint(hasControl || !isConnected);
  const takeControl = useCallback(() => {
    live.send({ type: "control.take" });
    surface.current?.focus({ preventScroll: true });
  }, [live, surface]);
  return (
    <section ref={stage} aria-label="Live browser" className="flex min-h-0 flex-1 flex-col bg-canvas">
      {(session.stage?.tabs.length ?? 0) > 1 && <TabStrip onRefused={hint.show} />}
      {tool && <AnnotateBar tool={tool} onTool={annotating.start} onLeave={annotating.leave} />}
      <div className={tool ? "hidden" : "contents"}>
        <AddressBar hasFocus={hasFocus} takeControl={takeControl} onRefused={hint.show}>
          {annotating.isPossible && (
            <IconButton
              ref={annotating.button}
              label="Annotate"
              size="icon-sm"
              onPointerEnter={() => void loadAnnotateBar().catch(() => {})}
              onClick={() => annotating.start("element")}
            >
              <MessageSquarePlus />
            </IconButton>
          )}
          <OnDemand preload={() => void loadViewMenu().catch(() => {})} button={ViewButton}>
            <ViewMenu
              stage={stage}
              viewport={viewport === "fit" ? viewport : choiceOf(page)}
              onViewport={setViewport}
              hasKeyboard={hasKeyboard}
              onKeyboard={setKeyboard}
            />
          </OnDemand>
        </AddressBar>
      </div>
      <ControlNotice />
      <div className={recording?.isOpen ? "hidden" : "contents"}>
        <LiveView
          surface={surface}
          isShown={isShown && !recording?.isOpen}
          hasFocus={hasFocus}
          hasKeyboard={hasKeyboard}
          viewport={viewport}
          onPageSize={setPage}
          onFocusChange={setFocus}
          onRefused={hint.show}
          isHinting={hint.isShown}
          takeControl={takeControl}
          tool={tool}
          onAnnotated={annotating.leave}
        />
      </div>
      {isRecordingShown && <RecordingView />}
    </section>
  );
}

/**
 * Whether the visitor annotates the page, and with which tool. Annotating needs no control: nothing of it reaches the page.
 * `button` gets the focus when the visitor leaves.
 */
function useAnnotating() {
  const { role, agent, browser } = useSession();
  const isPossible = role !== "view" && agent === null && browser.status === "ready";
  const [chosen, setChosen] = useState<AnnotateTool | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const wasChosen = useRef(false);
  useEffect(() => {
    if (wasChosen.current && chosen === null) button.current?.focus();
    wasChosen.current = chosen !== null;
  }, [chosen]);
  const leave = useCallback(() => setChosen(null), []);
  return { isPossible, tool: isPossible ? chosen : null, start: setChosen, leave, button };
}

/** A hint that is shown for a while each time that it is needed. @param isUseless whether it must not be shown now. */
function useHint(isUseless: boolean): { isShown: boolean; show: () => void } {
  const [shownTimes, setShownTimes] = useState(0);
  useEffect(() => {
    if (shownTimes === 0) return;
    const timer = setTimeout(() => setShownTimes(0), HINT_MS);
    return () => clearTimeout(timer);
  }, [shownTimes]);
  const show = useCallback(() => setShownTimes((times) => times + 1), []);
  return { isShown: shownTimes > 0 && !isUseless, show };
}
