import { Braces } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusDot } from "#components/ui/status-dot.tsx";
import { Age } from "#components/ui/time.tsx";
import { formatAddress } from "#lib/page/labels/format.ts";
import { STATE_WORDS } from "#lib/page/labels/state-words.ts";
import type { SessionSummary } from "#lib/page/state/view-types.ts";

/** Shows the rows of a list of sessions. */
export function SessionRows({ children }: { children: ReactNode }) {
  return <ul className="divide-y overflow-hidden rounded-lg border bg-surface">{children}</ul>;
}

/** Shows one session of the list as a link to its page. */
export function SessionRow({ session, actions }: { session: SessionSummary; actions?: ReactNode }) {
  const { tone, title } = STATE_WORDS[session.state];
  return (
    <li className="flex items-start gap-1 pr-2 hover:bg-hover">
      <a
        href={session.shareUrl}
        className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 py-2 pr-1 pl-4 outline-offset-[-2px] sm:grid-cols-[minmax(0,1fr)_minmax(0,144px)_128px_72px] lg:grid-cols-[minmax(0,1fr)_240px_136px_80px]"
      >
        <span className="flex min-w-0 items-center gap-2">
          <span dir="auto" className="truncate font-medium text-sm">
            {session.title}
          </span>
          {session.isStructured && (
            <Braces role="img" aria-label="Structured" className="size-3.5 shrink-0 text-faint" />
          )}
          {session.source !== "web" && <Badge className="max-sm:hidden">{session.source}</Badge>}
        </span>
        <span className="truncate text-faint text-sm max-sm:row-start-2">
          {session.targetUrl && formatAddress(session.targetUrl)}
        </span>
        <span className="flex items-center gap-2 text-soft text-sm">
          <StatusDot tone={tone} />
          {title}
        </span>
        <span className="text-right text-faint text-xs">
          <Age iso={session.createdAt} />
        </span>
        {session.stateReason !== null && (
          <span
            dir="auto"
            title={session.stateReason}
            className={cn("col-span-full truncate text-sm", tone === "bad" ? "text-bad" : "text-soft")}
          >
            {session.stateReason}
          </span>
        )}
      </a>
      {actions && <span className="flex shrink-0 items-center py-1.5">{actions}</span>}
    </li>
  );
}
