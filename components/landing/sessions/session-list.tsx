"use client";

import { ChevronLeft, ChevronRight, Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import type { ListQuery, SessionPage } from "#lib/page/actions/home-actions.ts";
import type { StateFilter } from "#lib/page/labels/state-filters.ts";
import type { SessionSummary } from "#lib/page/state/view-types.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { RenameDialog } from "./rename-dialog.tsx";
import { SessionRow, SessionRows } from "./session-row.tsx";
import { useSessionPage } from "./use-session-page.ts";

export type SessionListProps = {
  text: string;
  filter: StateFilter;
  mayWrite: boolean;
  /** Is shown until the first page has been read. */
  waiting: ReactNode;
};

/** What the person is doing to a session. */
type Task = { kind: "rename" | "delete"; session: SessionSummary };

/** Milliseconds after the last key stroke until a search begins. */
const TYPING_MS = 250;

/** Shows the live list of the person's sessions, one page at a time. */
export function SessionList({ text, filter, mayWrite, waiting }: SessionListProps) {
  const settled = useSettled(text.trim());
  const { cursors, older, newer } = useCursors(`${filter} ${settled}`);
  const { page, query, problem, refresh } = useSessionPage({ text: settled, filter, cursor: cursors.at(-1) });
  const [task, setTask] = useState<Task>();
  const [said, setSaid] = useState("");
  function finish(sentence: string): void {
    setSaid(sentence);
    setTask(undefined);
    refresh();
  }
  if (!page || !query) return problem === undefined ? waiting : <Problem text={problem} />;
  return (
    <>
      {problem !== undefined && <Problem text={problem} />}
      <p role="status" className={said === "" ? "sr-only" : "text-soft text-sm"}>
        {said || describePage(page, query)}
      </p>
      {page.data.length === 0 ? (
        <EmptyList page={page} query={query} />
      ) : (
        <SessionRows>
          {page.data.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              actions={mayWrite && <RowActions session={session} onStart={setTask} />}
            />
          ))}
        </SessionRows>
      )}
      <Paging
        isFirst={cursors.length === 0}
        nextCursor={page.nextCursor}
        isSearch={isSearch(query)}
        onNewer={newer}
        onOlder={older}
      />
      {task?.kind === "rename" && (
        <RenameDialog session={task.session} onClose={() => setTask(undefined)} onDone={finish} />
      )}
      {task?.kind === "delete" && (
        <DeleteDialog session={task.session} onClose={() => setTask(undefined)} onDone={finish} />
      )}
    </>
  );
}

/** Returns a text after it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Keeps the cursors of the pages up to the one that is shown. Another search begins at its first page. */
function useCursors(search: string) {
  const [kept, setKept] = useState<{ search: string; cursors: string[] }>({ search, cursors: [] });
  const cursors = kept.search === search ? kept.cursors : [];
  return {
    cursors,
    older: (cursor: string) => setKept({ search, cursors: [...cursors, cursor] }),
    newer: () => setKept({ search, cursors: cursors.slice(0, -1) }),
  };
}

const isSearch = ({ text, filter }: ListQuery): boolean => text !== "" || filter !== "all";

function describePage({ data, nextCursor }: SessionPage, query: ListQuery): string {
  const count = `${data.length} ${data.length === 1 ? "session" : "sessions"}`;
  const found = isSearch(query) ? `${count} found` : count;
  return nextCursor === null ? `${found}.` : `${found} on this page.`;
}

function Problem({ text }: { text: string }) {
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
      The list may be out of date. {text}
    </p>
  );
}

function EmptyList({ page, query }: { page: SessionPage; query: ListQuery }) {
  let text = "Sessions you start here or over the API appear in this list.";
  if (isSearch(query)) text = "No session matches.";
  if (page.nextCursor !== null) text = "None of the sessions examined so far matches. Older ones may.";
  else if (query.cursor !== undefined) text = "There are no older sessions.";
  return (
    <p className="rounded-lg border border-line-strong border-dashed px-4 py-6 text-center text-faint text-sm">
      {text}
    </p>
  );
}

function RowActions({ session, onStart }: { session: SessionSummary; onStart: (task: Task) => void }) {
  return (
    <>
      <IconButton
        size="icon-sm"
        label={`Rename ${session.title}`}
        onClick={() => onStart({ kind: "rename", session })}
      >
        <Pencil />
      </IconButton>
      <IconButton
        size="icon-sm"
        label={`Delete ${session.title}`}
        onClick={() => onStart({ kind: "delete", session })}
      >
        <Trash2 />
      </IconButton>
    </>
  );
}

function Paging({
  isFirst,
  nextCursor,
  isSearch: searches,
  onNewer,
  onOlder,
}: {
  isFirst: boolean;
  nextCursor: string | null;
  isSearch: boolean;
  onNewer: () => void;
  onOlder: (cursor: string) => void;
}) {
  if (isFirst && nextCursor === null) return null;
  return (
    <nav aria-label="Pages of the list" className="flex justify-end gap-2">
      <Button size="sm" disabled={isFirst} onClick={onNewer}>
        <ChevronLeft aria-hidden /> Newer
      </Button>
      <Button size="sm" disabled={nextCursor === null} onClick={() => nextCursor && onOlder(nextCursor)}>
        {searches ? "Search older" : "Older"} <ChevronRight aria-hidden />
      </Button>
    </nav>
  );
}
