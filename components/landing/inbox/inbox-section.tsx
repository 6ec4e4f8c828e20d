"use client";

import { Bell, BellOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { type NotificationSwitch, notify, useNotificationSwitch } from "#components/ui/notifications.ts";
import { Age } from "#components/ui/time.tsx";
import { usePolling } from "#components/ui/use-polling.ts";
import { useTitleMark } from "#components/ui/use-title-mark.ts";
import { type HomeInbox, readHomeInbox } from "#lib/page/actions/home-inbox.ts";
import { INBOX_KIND_WORDS } from "#lib/page/labels/inbox-kinds.ts";
import type { HomeInboxItem } from "#lib/page/state/view-types.ts";

const EVERY_MS = 5_000;
/** A hidden tab shows the count in its title and may notify, so it reads too, but less often. */
const HIDDEN_EVERY_MS = 20_000;

/**
 * Shows what waits for the person in all sessions, with links to the pages where it is settled. The title of the tab
 * shows the count. Shows nothing if nothing waits.
 */
export function InboxSection() {
  const { inbox, problem } = useInbox();
  const switching = useNotificationSwitch();
  useNewItems(inbox, switching.notifications === "on");
  const count = inbox?.data.length ?? 0;
  const shownCount = inbox?.nextCursor ? `${count}+` : String(count);
  useTitleMark(count === 0 ? null : `${shownCount} waiting`);
  return (
    <section aria-labelledby="inbox" className={count === 0 ? "sr-only" : "flex flex-col gap-2"}>
      <div className="flex items-center gap-2">
        <h2 id="inbox" className="font-semibold text-base">
          Waiting for you
        </h2>
        <Badge tone="attention">{shownCount}</Badge>
        <span className="flex-1" />
        {count > 0 && <NotifyButton {...switching} />}
      </div>
      <p role="status" className="sr-only">
        {inbox && (count === 0 ? "Nothing waits for you." : `${shownCount} waiting for you.`)}
      </p>
      {problem !== undefined && count > 0 && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
          The list may be out of date. {problem}
        </p>
      )}
      {count > 0 && (
        <ul className="divide-y overflow-hidden rounded-lg border border-warn/40 bg-surface">
          {inbox?.data.map((item) => (
            <InboxRow key={item.id} item={item} />
          ))}
        </ul>
      )}
    </section>
  );
}

function useInbox() {
  const [inbox, setInbox] = useState<HomeInbox>();
  const [problem, setProblem] = useState<string>();
  usePolling(readHomeInbox, {
    everyMs: EVERY_MS,
    hiddenEveryMs: HIDDEN_EVERY_MS,
    onResult(outcome) {
      if (outcome.isDone) setInbox(outcome.answer);
      setProblem(outcome.isDone ? undefined : outcome.error);
    },
  });
  return { inbox, problem };
}

/** Notifies the person of items that were not there before, while the tab is hidden. */
function useNewItems(inbox: HomeInbox | undefined, isOn: boolean): void {
  /** When the newest item that is known was created. */
  const newest = useRef<string>(undefined);
  useEffect(() => {
    if (!inbox) return;
    const { data } = inbox;
    const before = newest.current;
    const fresh = data.filter(({ createdAt }) => before !== undefined && createdAt > before);
    newest.current = [before ?? "", ...data.map(({ createdAt }) => createdAt)].toSorted().at(-1);
    if (!isOn || !document.hidden) return;
    for (const { id, kind, title, sessionTitle } of fresh)
      notify({ title, body: `${INBOX_KIND_WORDS[kind]} · ${sessionTitle}`, tag: id });
  }, [inbox, isOn]);
}

function InboxRow({ item }: { item: HomeInboxItem }) {
  return (
    <li>
      <a
        href={item.shareUrl}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2 outline-offset-[-2px] hover:bg-hover sm:grid-cols-[minmax(0,1fr)_minmax(0,240px)_80px]"
      >
        <span className="flex min-w-0 items-center gap-2">
          <Badge tone="attention">{INBOX_KIND_WORDS[item.kind]}</Badge>
          <span dir="auto" className="truncate font-medium text-sm">
            {item.title}
          </span>
        </span>
        <span dir="auto" className="truncate text-faint text-sm max-sm:row-start-2">
          {item.sessionTitle}
        </span>
        <span className="text-right text-faint text-xs">
          <Age iso={item.createdAt} />
        </span>
      </a>
    </li>
  );
}

/** Switches notifications on and off. Says so if the browser refuses them. */
function NotifyButton({ notifications, toggle }: NotificationSwitch) {
  if (notifications === "unsupported") return null;
  if (notifications === "refused")
    return <span className="text-faint text-xs">Your browser refuses notifications of this site</span>;
  const isOn = notifications === "on";
  return (
    <IconButton
      size="icon-sm"
      label={isOn ? "Notifications are on" : "Notify me"}
      aria-pressed={isOn}
      onClick={() => void toggle()}
    >
      {isOn ? <Bell /> : <BellOff />}
    </IconButton>
  );
}
