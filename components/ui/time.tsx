"use client";

import { formatAge } from "#lib/page/labels/format.ts";
import { useNow } from "./use-now.ts";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Shows the time of day of an event, in the reader's time zone. */
export function ClockTime({ iso }: { iso: string }) {
  const now = useNow(60_000, false);
  const date = new Date(iso);
  return (
    <time
      dateTime={iso}
      title={now === null ? undefined : full.format(date)}
      className="inline-block min-w-[34px] text-right tabular-nums"
    >
      {now === null ? "" : clock.format(date)}
    </time>
  );
}

/** Shows the time since an event. */
export function Age({ iso }: { iso: string }) {
  const now = useNow(30_000);
  return (
    <time
      dateTime={iso}
      title={now === null ? undefined : full.format(new Date(iso))}
      className="tabular-nums"
    >
      {now === null ? "" : formatAge(iso, now)}
    </time>
  );
}
