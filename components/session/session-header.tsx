"use client";

import { Eye } from "lucide-react";
import Link from "next/link";
import { Badge } from "#components/ui/badge.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { StatusDot } from "#components/ui/status-dot.tsx";
import { describeState } from "#lib/api/client/describe-state.ts";
import { Mark } from "./mark.tsx";
import { ModelBadge } from "./model-badge.tsx";
import { useLiveStatus, useSession } from "./session-context.tsx";
import { SessionMenu } from "./session-menu.tsx";

/** What the session is about, how it stands and who watches, in one row. */
export function SessionHeader({ openHelp }: { openHelp: () => void }) {
  const state = useSession();
  const { share } = state.paths;
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
      {state.role === "drive" && share && (
        <CopyButton
          variant="ghost"
          size="md"
          className="max-md:hidden"
          label="Copy the link to this session"
          text={() => new URL(share, location.origin).href}
        >
          Share
        </CopyButton>
      )}
      <SessionMenu openHelp={openHelp} />
    </header>
  );
}
