"use client";

import { Globe, LoaderCircle, MonitorOff, Timer } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLiveStatus, useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyNote } from "#components/ui/empty-note.tsx";
import { Age } from "#components/ui/time.tsx";
import type { LiveStatus } from "#lib/client/live-connection.ts";
import { describeBrowserWait } from "#lib/page/labels/describe-state.ts";
import { mayDirect, type SessionState } from "#lib/page/state/session-state.ts";

/** Explains why there is no live picture, and offers to open the live page. */
export function LiveNote({ hasPicture }: { hasPicture: boolean }) {
  const state = useSession();
  const note = describeNote(state, useLiveStatus().state, hasPicture);
  if (!note) return null;
  const Icon = note.icon;
  const action = note.action && mayDirect(state) && <OpenPage label={note.action} />;
  // While the session needs no browser, the note is a small box at the bottom, so that the note does not cover the last
  // picture.
  if (hasPicture && note.isAtRest) {
    return (
      <div
        role="status"
        className="absolute bottom-3 flex max-w-[calc(100%-24px)] items-center gap-3 rounded-lg border bg-raised py-2 pr-2 pl-3 text-sm shadow-(color:--shadow-color) shadow-lg"
      >
        <Icon aria-hidden className="size-4 shrink-0 text-faint" />
        <p className="min-w-0 text-soft">
          <span className="font-medium text-ink">{note.title}</span>
          {state.pictureTakenAt && (
            <span className="text-faint">
              {" "}
              · <Age iso={state.pictureTakenAt} />
            </span>
          )}
        </p>
        {action}
      </div>
    );
  }
  return (
    <div
      role="status"
      className={cn("absolute inset-0 flex items-center justify-center", hasPicture && "pointer-events-none")}
    >
      <div
        className={cn("rounded-lg", hasPicture && "border bg-raised shadow-(color:--shadow-color) shadow-lg")}
      >
        <EmptyNote
          icon={<Icon className={note.isBusy ? "animate-spin" : undefined} />}
          title={note.title}
          action={action}
        >
          {note.text}
        </EmptyNote>
      </div>
    </div>
  );
}

/** Shows the button that opens the live page, and the error if opening fails. */
function OpenPage({ label }: { label: string }): ReactNode {
  const { actions } = useRuntime();
  const [isOpening, setOpening] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function open(): Promise<void> {
    setOpening(true);
    setError(null);
    const outcome = await actions.moveBrowser({ action: "open" });
    setOpening(false);
    if (!outcome.isDone) setError(`The browser did not start: ${outcome.error}`);
  }
  return (
    <div className="flex shrink-0 flex-col items-center gap-2">
      <Button className="pointer-events-auto" disabled={isOpening} onClick={open}>
        {label}
      </Button>
      {error && (
        <p role="alert" className="max-w-80 text-bad text-sm">
          {error}
        </p>
      )}
    </div>
  );
}

type Note = {
  icon: typeof Globe;
  title: string;
  text?: string;
  isBusy?: boolean;
  /** Whether no browser is running because the session does not need one now. */
  isAtRest?: boolean;
  /** Label of the button that opens the live page. */
  action?: string;
};

function describeNote(
  { browser, browserPosition }: Pick<SessionState, "browser" | "browserPosition">,
  live: LiveStatus["state"],
  hasPicture: boolean,
): Note | undefined {
  switch (browser.status) {
    case "creating":
      return browserPosition === null
        ? {
            icon: LoaderCircle,
            isBusy: true,
            title: "Starting the browser",
            text: "The page appears here in a moment.",
          }
        : {
            icon: Timer,
            title: describeBrowserWait(browserPosition),
            text: "Other sessions use every browser. The page appears here as soon as one is free.",
          };
    case "error":
      return {
        icon: MonitorOff,
        title: "The browser stopped",
        action: "Start it again",
        text: browser.lastError ?? "It ended unexpectedly.",
      };
    case "expired":
      return {
        icon: MonitorOff,
        isAtRest: true,
        action: "Open live page",
        title: hasPicture ? "Last picture of the page" : "The live page is closed",
        text: "It reopens where it was when the agent needs it, or when a person opens it.",
      };
    case "idle":
      return {
        icon: Globe,
        isAtRest: true,
        title: "No page open yet",
        action: "Open live page",
        text: "The browser starts when the agent needs it, or when a person opens the page.",
      };
    case "ready":
      if (hasPicture) return undefined;
      if (live === "closed")
        return { icon: MonitorOff, title: "The live view has ended", text: "Open the session’s link again." };
      return {
        icon: LoaderCircle,
        isBusy: true,
        title: live === "open" ? "Waiting for the first picture" : "Connecting to the live view",
      };
  }
}
