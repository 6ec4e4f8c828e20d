"use client";

import { type ComponentType, type ReactNode, useCallback, useEffect, useState } from "react";
import { Input, Select } from "#components/ui/field.tsx";
import { STATE_FILTERS, type StateFilter } from "#lib/page/labels/state-filters.ts";
import type { SessionListProps } from "./session-list.tsx";

type LiveParts = { SessionList: ComponentType<SessionListProps>; InboxSection: ComponentType };

const load = (): Promise<LiveParts> => import("./live-parts.ts");

/** Milliseconds after which the list becomes live without any action of the person. */
const LIVE_AFTER_MS = 3_000;

/**
 * Shows what waits for the person, and the sessions: the search, the filter, and the list. The list that the server
 * rendered is shown until the code of the live list has been loaded, which happens when the person comes near it, and otherwise soon after
 * the page has been loaded.
 *
 * @param children the list that the server rendered.
 */
export function SessionsSection({ mayWrite, children }: { mayWrite: boolean; children: ReactNode }) {
  const [text, setText] = useState("");
  const [filter, setFilter] = useState<StateFilter>("all");
  const [parts, setParts] = useState<LiveParts>();
  // A failed load is tried again when the person uses the list the next time.
  const start = useCallback(() => {
    void load().then(setParts, () => {});
  }, []);
  useEffect(() => {
    const timer = setTimeout(start, LIVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [start]);
  return (
    <>
      {parts && <parts.InboxSection />}
      <section
        aria-labelledby="sessions"
        className="flex flex-col gap-2"
        onPointerEnter={start}
        onFocusCapture={start}
      >
        <div className="flex flex-wrap items-center gap-2">
          <h2 id="sessions" className="mr-auto font-semibold text-base max-sm:basis-full">
            Sessions
          </h2>
          <Input
            type="search"
            aria-label="Search sessions"
            placeholder="Search title, task, page"
            maxLength={200}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="w-auto min-w-0 max-sm:flex-1 sm:w-56"
          />
          <Select
            aria-label="State"
            value={filter}
            onChange={(event) => setFilter(event.target.value as StateFilter)}
            className="w-auto"
          >
            {Object.entries(STATE_FILTERS).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </div>
        {parts ? (
          <parts.SessionList text={text} filter={filter} mayWrite={mayWrite} waiting={children} />
        ) : (
          children
        )}
      </section>
    </>
  );
}
