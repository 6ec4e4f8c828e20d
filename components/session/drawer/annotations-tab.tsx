"use client";

import { MessageSquareText, Send } from "lucide-react";
import { useEffect, useState } from "react";
import type { ActionOutcome } from "#lib/page/actions/call-action.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { AnnotationView } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useDrawer } from "../../runtime/drawer-context.tsx";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { useAnnotationActions } from "../../runtime/use-annotation-actions.ts";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { Segments } from "../../ui/segments.tsx";
import { AnnotationRow } from "./annotation-row.tsx";

/** How many annotations the service accepts with one message, and how many characters of each and of all together. */
const SENT_MAX = 20;
const TEXT_UNITS_MAX = 16_000;
const SENT_UNITS_MAX = 64_000;

const FILTERS = [
  ["open", "Open"],
  ["sent", "Sent"],
  ["resolved", "Resolved"],
  ["all", "All"],
] as const;
type Filter = (typeof FILTERS)[number][0];

/** Whether a list shows an annotation. A lost one is unresolved as well. */
const isListed = ({ status }: AnnotationView, filter: Filter): boolean =>
  filter === "all" || (status === "lost" ? "open" : status) === filter;

/**
 * Shows the annotations that people made in the live browser, and sends them to the agent. People with the role
 * `comment` can resolve and reopen them, people with the role `drive` can also send and remove them.
 */
export function AnnotationsTab() {
  const session = useSession();
  const { annotations, role, agent } = session;
  const [filter, setFilter] = useState<Filter>("open");
  const chosenId = useDrawer().annotationId;
  const chosen = annotations.find(({ id }) => id === chosenId);
  // A person has selected it on the page, so it is listed whatever was listed before.
  useEffect(() => {
    if (chosen) setFilter((last) => (isListed(chosen, last) ? last : "all"));
  }, [chosen]);
  const numbers = new Map(annotations.map(({ id }, index) => [id, index + 1]));
  const mayChange = role !== "view" && agent === null;
  const { act, send, error, isBusy } = useAnnotations(mayChange);
  if (annotations.length === 0) {
    return (
      <EmptyNote icon={<MessageSquareText />} title="No annotations yet">
        Choose Annotate above the live page, mark something, and write a comment.
      </EmptyNote>
    );
  }
  const listed = annotations.filter((annotation) => isListed(annotation, filter));
  const next = selectNext(annotations);
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-center justify-between gap-2 border-b px-4 py-2">
        <Segments label="Which annotations" choices={FILTERS} chosen={filter} onChoose={setFilter} />
        {mayDirect(session) && (
          // Never `disabled`, so that the button keeps the focus when everything is sent.
          <Button
            size="sm"
            variant="primary"
            className="h-7 max-lg:h-9 max-lg:px-3 aria-disabled:opacity-45"
            aria-disabled={isBusy || next.length === 0}
            onClick={() => !isBusy && next.length > 0 && void send(next)}
          >
            <Send aria-hidden /> Send {next.length} to the agent
          </Button>
        )}
      </div>
      {error && (
        <p role="alert" className="px-4 pt-2 text-bad text-sm [overflow-wrap:anywhere]">
          {error}
        </p>
      )}
      {listed.length === 0 ? (
        <p className="px-4 py-6 text-center text-faint text-sm">
          {filter === "open" ? "Nothing is open." : `Nothing is ${filter}.`} The session has{" "}
          {countOf(annotations.length, "annotation")}.
        </p>
      ) : (
        <ol aria-label="Annotations" className="divide-y">
          {listed.toReversed().map((annotation) => (
            <li
              key={annotation.id}
              ref={annotation.id === chosenId ? scrollTo : null}
              tabIndex={annotation.id === chosenId ? -1 : undefined}
              className={cn("px-4 py-3 outline-none", annotation.id === chosenId && "bg-accent-soft")}
            >
              <AnnotationRow
                annotation={annotation}
                number={numbers.get(annotation.id) ?? 0}
                mayChange={mayChange}
                mayDirect={mayDirect(session)}
                isBusy={isBusy}
                act={act}
                send={send}
              />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** Scrolls to the annotation that a person has selected on the page, and moves the focus to it. */
function scrollTo(row: HTMLLIElement | null): void {
  row?.scrollIntoView({ block: "nearest" });
  row?.focus({ preventScroll: true });
}

/** Selects the oldest open annotations that fit in one message. Lost ones are sent one by one, in their row. */
function selectNext(annotations: readonly AnnotationView[]): string[] {
  let units = 0;
  const open = annotations.filter(({ status }) => status === "open").slice(0, SENT_MAX);
  const isWithin = open.map((annotation) => {
    // At least as long as the text that the service writes of it.
    const notes = annotation.annotations?.length ?? 0;
    units += Math.min(TEXT_UNITS_MAX, JSON.stringify(annotation).length + 50 * notes);
    return units <= SENT_UNITS_MAX;
  });
  return open.filter((_, index) => isWithin[index]).map(({ id }) => id);
}

/** The actions of the tab, one at a time, and the sentence of the last failure. */
function useAnnotations(mayLocate: boolean) {
  const { store } = useRuntime();
  const { browser, annotations } = useSession();
  const actions = useAnnotationActions();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const isShowing = browser.status === "ready" && annotations.length > 0;
  const { currentUrl } = browser;
  // The page of the live browser has changed, so elements may be gone or back. If the service cannot look, the statuses
  // stay as they are.
  useEffect(() => {
    if (mayLocate && isShowing && currentUrl !== null) void actions.locate();
  }, [actions, mayLocate, isShowing, currentUrl]);

  async function act<Answer>(what: (all: typeof actions) => Promise<ActionOutcome<Answer>>) {
    setBusy(true);
    setError(null);
    const outcome = await what(actions);
    setBusy(false);
    if (outcome.isDone) return outcome.answer;
    setError(outcome.error);
    return undefined;
  }
  async function send(ids: string[]): Promise<void> {
    const answer = await act((all) => all.send(ids));
    if (!answer) return;
    const { requestId, runId } = answer;
    const createdAt = new Date().toISOString();
    store.addAcceptedMessage(
      { requestId, mode: "queue", text: "", attachments: [], annotations: ids, author: null, createdAt },
      runId,
    );
  }
  return { act, send, error, isBusy };
}
