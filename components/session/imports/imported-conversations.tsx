"use client";

import { ChevronRight, Import } from "lucide-react";
import { useState } from "react";
import type { ImportPage } from "#lib/page/actions/porting-actions.ts";
import { describeTool } from "#lib/page/labels/describe-tool.ts";
import type { ExportedMessage, ImportSummary } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { LineButton } from "../conversation/line-button.tsx";
import { LeftOutList } from "./left-out-list.tsx";

/**
 * Shows the conversations that were imported into the session, above the session's own conversation. They are collapsed
 * at first.
 */
export function ImportedConversations() {
  const { imports } = useSession();
  const shown = imports.filter(({ messageCount }) => messageCount > 0);
  return shown.toReversed().map((summary) => (
    <li key={summary.id} className="mb-3">
      <ImportedConversation summary={summary} />
    </li>
  ));
}

function ImportedConversation({ summary }: { summary: ImportSummary }) {
  const { isOpen, toggle, page, isLoading, error, loadMore } = useImport(summary.id);
  const { id, title, messageCount } = summary;
  const count = countOf(messageCount, "message");
  return (
    <section aria-label={`Imported conversation: ${title ?? "untitled"}`}>
      <LineButton isOpen={isOpen} onToggle={toggle} panelId={`${id}-messages`}>
        <Import aria-hidden className="size-4 shrink-0 text-faint" />
        <span className="shrink-0 text-soft">Imported conversation</span>
        <span dir="auto" className="min-w-0 truncate text-faint">
          {title}
        </span>
        <span className="flex-1" />
        <span className="shrink-0 text-faint text-xs">{count}</span>
        <ChevronRight aria-hidden className={cn("size-4 shrink-0 text-faint", isOpen && "rotate-90")} />
      </LineButton>
      {isOpen && (
        <div id={`${id}-messages`} className="mt-1 flex flex-col gap-3 border-l-2 py-1 pl-3">
          {page?.data.map((message) => (
            <ImportedMessage key={message.id} message={message} />
          ))}
          {error && (
            <p role="alert" className="text-bad text-sm">
              {error}
            </p>
          )}
          {(page === null || page.nextCursor !== null) && (
            <Button size="sm" variant="ghost" className="self-start" disabled={isLoading} onClick={loadMore}>
              {isLoading ? "Loading messages" : page === null ? "Try again" : "Load more messages"}
            </Button>
          )}
          {page && <LeftOutList leftOut={page.leftOut} />}
        </div>
      )}
    </section>
  );
}

/** Reads the conversation of an import page by page. The first page is read when the person opens the conversation. */
function useImport(importId: string) {
  const { actions } = useRuntime();
  const [isOpen, setOpen] = useState(false);
  const [page, setPage] = useState<ImportPage | null>(null);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function loadMore(): Promise<void> {
    if (isLoading) return;
    setLoading(true);
    setError(null);
    const outcome = await actions.readImport(importId, page?.nextCursor ?? null);
    setLoading(false);
    if (!outcome.isDone) return setError(outcome.error);
    setPage({ ...outcome.answer, data: [...(page?.data ?? []), ...outcome.answer.data] });
  }
  function toggle(opens: boolean): void {
    setOpen(opens);
    if (opens && page === null) void loadMore();
  }
  return { isOpen, toggle, page, isLoading, error, loadMore };
}

function ImportedMessage({ message: { role, parts } }: { message: ExportedMessage }) {
  const text = parts.flatMap((part) => (part.type === "text" ? [String(part.text)] : [])).join("\n\n");
  const calls = parts.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const { done, object } = describeTool(String(part.toolName), part.input);
    return [object === null ? done : `${done}: ${object}`];
  });
  return (
    <article
      aria-label={role === "user" ? "Imported request" : "Imported answer"}
      className="min-w-0 text-sm"
    >
      {role === "user" ? (
        <p
          dir="auto"
          className="whitespace-pre-wrap rounded-md border bg-surface px-3 py-2 [overflow-wrap:anywhere]"
        >
          {text}
        </p>
      ) : (
        text !== "" && <Markdown text={text} />
      )}
      {calls.length > 0 && (
        <ul className="mt-1 text-faint text-xs">
          {calls.map((call, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a stored message never move
            <li key={index} className="truncate">
              {call}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}
