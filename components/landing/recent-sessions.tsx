import { Braces } from "lucide-react";
import { Badge } from "#components/ui/badge.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusDot } from "#components/ui/status-dot.tsx";
import { Age } from "#components/ui/time.tsx";
import { formatAddress } from "#lib/page/labels/format.ts";
import { STATE_WORDS } from "#lib/page/labels/state-words.ts";
import type { SessionSummary } from "#lib/page/state/view-types.ts";

/** Lists the visitor's recent sessions, newest first. */
export function RecentSessions({ sessions }: { sessions: SessionSummary[] }) {
  return (
    <section aria-labelledby="recent" className="flex flex-col gap-2">
      <h2 id="recent" className="font-semibold text-base">
        Recent sessions
      </h2>
      {sessions.length === 0 ? (
        <p className="rounded-lg border border-line-strong border-dashed px-4 py-6 text-center text-faint text-sm">
          Sessions you start here or over the API appear in this list.
        </p>
      ) : (
        <ul className="divide-y overflow-hidden rounded-lg border bg-surface">
          {sessions.map((session) => (
            <li key={session.id}>
              <SessionRow session={session} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function SessionRow({ session }: { session: SessionSummary }) {
  const { tone, title } = STATE_WORDS[session.state];
  return (
    <a
      href={session.shareUrl}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2 outline-offset-[-2px] hover:bg-hover sm:grid-cols-[minmax(0,1fr)_minmax(0,144px)_128px_72px] lg:grid-cols-[minmax(0,1fr)_240px_136px_80px]"
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
  );
}
