"use client";

import { Check, Clock, CornerDownRight, FastForward, Pencil, X } from "lucide-react";
import { useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { QueuedMessage } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { IconButton } from "../../ui/icon-button.tsx";

/**
 * Shows the waiting messages at the end of the conversation, in the order in which the agent will get them. Visitors
 * with the role `drive` can edit and remove a message while it waits.
 */
export function QueuedMessages() {
  const session = useSession();
  const { queue, runs } = session;
  const isOtherRunning = runs.some(({ state }) => state === "running");
  const next = queue.find(({ mode }) => mode !== "steer");
  return queue.map((message) => (
    <li key={message.requestId} data-item="queued" tabIndex={-1} className="mt-4 rounded-lg">
      <Queued message={message} isWaiting={isOtherRunning || next !== message} mayEdit={mayDirect(session)} />
    </li>
  ));
}

/** The name, icon and status of a waiting message in each mode. */
const WAITS = {
  queue: { name: "Queued message", icon: Clock, until: "Queued" },
  steer: {
    name: "Steering message",
    icon: CornerDownRight,
    until: "Steering: read at the agent’s next step",
  },
  interrupt: { name: "Interrupting message", icon: FastForward, until: "Next, once this turn has stopped" },
};

function Queued({
  message,
  isWaiting,
  mayEdit,
}: {
  message: QueuedMessage;
  isWaiting: boolean;
  mayEdit: boolean;
}) {
  const { store, actions } = useRuntime();
  const [draft, setDraft] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { name, icon: Icon, until } = WAITS[message.mode];

  async function remove(): Promise<void> {
    const outcome = await actions.removeQueued(message.requestId);
    if (outcome.isDone) store.removeQueuedMessage(message.requestId);
    else setError(outcome.error);
  }
  /** Saves the text. Then reads the queue again, because the agent may have got the message in the meantime. */
  async function save(): Promise<void> {
    const outcome = await actions.editQueued(message.requestId, (draft ?? message.text).trim());
    const queue = await actions.readQueue();
    if (queue.isDone) store.replaceQueue(queue.answer);
    setError(outcome.isDone ? null : outcome.error);
    if (outcome.isDone) setDraft(null);
  }

  return (
    <article aria-label={name} className="rounded-lg border border-line-strong border-dashed px-3 py-2">
      {draft === null ? (
        <p dir="auto" className="whitespace-pre-wrap text-base text-soft [overflow-wrap:anywhere]">
          {message.text}
        </p>
      ) : (
        <QueuedEditor
          name={name}
          draft={draft}
          onChange={setDraft}
          onCancel={() => setDraft(null)}
          onSave={() => void save()}
        />
      )}
      {message.attachments.length > 0 && (
        <p className="truncate text-faint text-xs">With {message.attachments.join(", ")}</p>
      )}
      {message.annotations.length > 0 && (
        <p className="text-faint text-xs">With {countOf(message.annotations.length, "annotation")}</p>
      )}
      <div className="flex h-6 items-center gap-1 text-faint text-xs">
        {isWaiting && error === null && <Icon aria-hidden className="size-3.5 shrink-0" />}
        <span className="flex-1 truncate" role={error === null ? undefined : "alert"}>
          {error ?? (isWaiting ? until : "Starting")}
        </span>
        {mayEdit && isWaiting && draft === null && (
          <>
            <IconButton label="Edit" size="icon-sm" onClick={() => setDraft(message.text)}>
              <Pencil />
            </IconButton>
            <IconButton label="Remove" size="icon-sm" onClick={remove}>
              <X />
            </IconButton>
          </>
        )}
        {draft !== null && (
          <IconButton label="Save" keys="Enter" size="icon-sm" disabled={draft.trim() === ""} onClick={save}>
            <Check />
          </IconButton>
        )}
      </div>
    </article>
  );
}

/** Shows a field for the text of a queued message. Enter saves, Esc cancels. */
function QueuedEditor({
  name,
  draft,
  onChange,
  onCancel,
  onSave,
}: {
  name: string;
  draft: string;
  onChange: (draft: string) => void;
  onCancel: () => void;
  onSave: () => void;
}) {
  return (
    <textarea
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to edit this text
      autoFocus
      aria-label={name}
      dir="auto"
      value={draft}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          onCancel();
        } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
          event.preventDefault();
          onSave();
        }
      }}
      className="field-sizing-content block w-full resize-none bg-transparent text-base outline-none"
    />
  );
}
