"use client";

import { ChevronLeft, Eye, Share2 } from "lucide-react";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { MenuButton, OnDemand } from "#components/ui/menu-button.tsx";
import { StatusDot } from "#components/ui/status-dot.tsx";
import { describeState } from "#lib/page/labels/describe-state.ts";
import { mayShare, type SessionState } from "#lib/page/state/session-state.ts";
import { useLiveStatus, useSession } from "../runtime/session-context.tsx";
import { Mark } from "../ui/mark.tsx";
import { ModelBadge } from "./model-badge.tsx";
import type { SessionDialogs } from "./session-menu.tsx";
import { useNotifications } from "./use-notifications.ts";

const loadMenu = async () => (await import("./session-menu.tsx")).SessionMenu;
const SessionMenu = lazily(loadMenu, <MenuButton aria-haspopup="menu" aria-expanded />);

/** Shows the title of the session. For a sub-agent, shows a link back to its parent and the name of the sub-agent. */
function SessionTitle({ state: { session, agent } }: { state: SessionState }) {
  if (!agent)
    return (
      <h1 dir="auto" className="min-w-0 truncate font-semibold text-base" title={session.title}>
        {session.title}
      </h1>
    );
  const { title, path } = agent.parent;
  return (
    <>
      {path && (
        <a
          href={`${path}#agents`}
          title={`Back to ${title}`}
          className="flex min-w-0 max-w-[40%] items-center gap-1 rounded-sm text-soft text-sm hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4 shrink-0" />
          <span className="sr-only">Back to </span>
          <span dir="auto" className="truncate max-sm:sr-only">
            {title}
          </span>
        </a>
      )}
      <h1 dir="auto" className="min-w-0 truncate font-semibold text-base" title={agent.objective}>
        {agent.name}
      </h1>
    </>
  );
}

/** Shows the session's title, state and number of viewers in one row. */
export function SessionHeader(dialogs: Omit<SessionDialogs, "notifications">) {
  // Here, because the menu is loaded only when it is opened.
  const notifications = useNotifications();
  const state = useSession();
  const words = describeState(state, useLiveStatus());
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b bg-surface pr-2 pl-4 max-lg:pl-3">
      <a href="/" aria-label="All sessions" className="rounded-sm text-accent">
        <Mark />
      </a>
      <SessionTitle state={state} />
      <span className="flex shrink-0 items-center gap-2 text-soft text-sm">
        <StatusDot tone={words.tone} />
        <span className="max-sm:sr-only">{words.title}</span>
      </span>
      {state.watching !== null && state.watching > 1 && (
        <Badge className="max-sm:hidden">
          <Eye aria-hidden />
          {state.watching} watching
        </Badge>
      )}
      <span className="flex-1" />
      <ModelBadge />
      {mayShare(state) && (
        <Button variant="ghost" className="max-md:hidden" onClick={dialogs.openShare}>
          <Share2 aria-hidden /> Share
        </Button>
      )}
      <OnDemand preload={() => void loadMenu().catch(() => {})}>
        <SessionMenu {...dialogs} notifications={notifications} />
      </OnDemand>
    </header>
  );
}
