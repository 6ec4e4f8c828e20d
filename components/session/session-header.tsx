"use client";

import { Eye, Share2 } from "lucide-react";
import Link from "next/link";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { StatusDot } from "#components/ui/status-dot.tsx";
import { describeState } from "#lib/page/words/describe-state.ts";
import { Mark } from "./mark.tsx";
import { ModelBadge } from "./model-badge.tsx";
import { useLiveStatus, useSession } from "./session-context.tsx";
import { mayShare, SessionMenu } from "./session-menu.tsx";

/** The session's title, state and number of viewers in one row. */
export function SessionHeader({ openHelp, openShare }: { openHelp: () => void; openShare: () => void }) {
  const state = useSession();
  const words = describeState(state, useLiveStatus());
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b bg-surface pr-2 pl-4 max-lg:pl-3">
      <Link href="/" aria-label="All sessions" className="rounded-sm text-accent">
        <Mark />
      </Link>
      <h1 dir="auto" className="min-w-0 truncate font-semibold text-base" title={state.session.title}>
        {state.session.title}
      </h1>
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
        <Button variant="ghost" className="max-md:hidden" onClick={openShare}>
          <Share2 aria-hidden /> Share
        </Button>
      )}
      <SessionMenu openHelp={openHelp} openShare={openShare} />
    </header>
  );
}
