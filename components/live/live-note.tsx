"use client";

import { Globe, LoaderCircle, MonitorOff } from "lucide-react";
import { useState } from "react";
import { useLiveStatus, useRuntime, useSession } from "#components/session/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyNote } from "#components/ui/empty-note.tsx";

/** What stands on the stage while there is no live picture, or over the last one when the browser is gone. */
export function LiveNote({ hasPicture }: { hasPicture: boolean }) {
  const { browser, role } = useSession();
  const { actions } = useRuntime();
  const live = useLiveStatus();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const note = describeNote(browser.status, live.state, hasPicture, browser.lastError);
  if (!note) return null;
  const Icon = note.icon;

  async function restart(): Promise<void> {
    setAsking(true);
    setError(null);
    const outcome = await actions.moveBrowser({ action: "reload" });
    setAsking(false);
    if (!outcome.isDone) setError(`It was not started. ${outcome.error}`);
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
          action={
            note.mayRestart &&
            role === "drive" && (
              <div className="flex flex-col items-center gap-2">
                <Button className="pointer-events-auto" disabled={isAsking} onClick={restart}>
                  Start it again
                </Button>
                {error && (
                  <p role="alert" className="text-bad text-sm">
                    {error}
                  </p>
                )}
              </div>
            )
          }
        >
          {note.text}
        </EmptyNote>
      </div>
    </div>
  );
}

type Note = { icon: typeof Globe; title: string; text?: string; isBusy?: boolean; mayRestart?: boolean };

function describeNote(
  status: "idle" | "creating" | "ready" | "expired" | "error",
  live: "connecting" | "open" | "reconnecting" | "closed",
  hasPicture: boolean,
  lastError: string | null,
): Note | undefined {
  switch (status) {
    case "creating":
      return {
        icon: LoaderCircle,
        title: "Starting the browser",
        text: "The page appears here in a moment.",
        isBusy: true,
      };
    case "error":
      return {
        icon: MonitorOff,
        title: "The browser stopped",
        text: lastError ?? "It ended unexpectedly.",
        mayRestart: true,
      };
    case "expired":
      return {
        icon: MonitorOff,
        title: "The browser was put away",
        text: "Nobody used it, or it ended by itself. It comes back on the same page when it is needed.",
        mayRestart: true,
      };
    case "idle":
      return hasPicture
        ? undefined
        : {
            icon: Globe,
            title: "No page open yet",
            text: "The browser starts when the agent needs it, or when you open an address above.",
          };
    case "ready":
      if (hasPicture) return undefined;
      if (live === "closed")
        return { icon: MonitorOff, title: "The live view has ended", text: "Open the session’s link again." };
      return {
        icon: LoaderCircle,
        title: live === "open" ? "Waiting for the first picture" : "Connecting to the live view",
        isBusy: true,
      };
  }
}
