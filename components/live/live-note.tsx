"use client";

import { Globe, LoaderCircle, MonitorOff } from "lucide-react";
import { useLiveStatus, useSession } from "#components/session/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyNote } from "#components/ui/empty-note.tsx";

/** What stands on the stage while there is no live picture, or over the last one when the browser is gone. */
export function LiveNote({ hasPicture }: { hasPicture: boolean }) {
  const { browser } = useSession();
  const live = useLiveStatus();
  const note = describeNote(browser.status, live.state, hasPicture, browser.lastError);
  if (!note) return null;
  const Icon = note.icon;
  return (
    <div
      role="status"
      className={cn("absolute inset-0 flex items-center justify-center", hasPicture && "pointer-events-none")}
    >
      <div
        className={cn("rounded-lg", hasPicture && "border bg-raised shadow-(color:--shadow-color) shadow-lg")}
      >
        <EmptyNote icon={<Icon className={note.isBusy ? "animate-spin" : undefined} />} title={note.title}>
          {note.text}
        </EmptyNote>
      </div>
    </div>
  );
}

type Note = { icon: typeof Globe; title: string; text?: string; isBusy?: boolean };

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
        text: lastError ?? "Open an address to start it again.",
      };
    case "expired":
      return {
        icon: MonitorOff,
        title: "The browser was put away",
        text: "It was idle. It comes back on the same page when it is needed, or when you reload.",
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
