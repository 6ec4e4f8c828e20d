"use client";

import { ArrowUp, Square } from "lucide-react";
import { type RefObject, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Kbd } from "#components/ui/kbd.tsx";
import { isWorking } from "#lib/api/client/session-state.ts";
import { ElicitationForm } from "./elicitation-form.tsx";
import { useRuntime, useSession } from "./session-context.tsx";
import { StateLine } from "./state-line.tsx";
import { useSyncQueue } from "./use-sync-queue.ts";

/** Where a person speaks to the agent: the state of things, a question that waits, and the message box. */
export function Composer({
  textarea,
  className,
}: {
  textarea: RefObject<HTMLTextAreaElement | null>;
  className?: string;
}) {
  const state = useSession();
  useSyncQueue();
  return (
    <section
      aria-label="Message"
      className={cn("flex max-h-[70dvh] min-h-0 flex-col gap-2 border-t bg-canvas px-3 pt-2 pb-3", className)}
    >
      <StateLine />
      {state.elicitation && (
        <ElicitationForm key={state.elicitation.elicitationId} elicitation={state.elicitation} />
      )}
      {state.role === "drive" ? (
        <MessageBox textarea={textarea} />
      ) : (
        <p className="text-faint text-sm">You are watching. This link does not allow sending messages.</p>
      )}
    </section>
  );
}

function MessageBox({ textarea }: { textarea: RefObject<HTMLTextAreaElement | null> }) {
  const { store, actions } = useRuntime();
  const isBusy = isWorking(useSession());
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function send(): Promise<void> {
    const said = text.trim();
    if (said === "" || isSending) return;
    setSending(true);
    setError(null);
    const outcome = await actions.sendMessage(said);
    setSending(false);
    if (!outcome.isDone) return setError(outcome.error);
    setText("");
    const { requestId, runId } = outcome.answer;
    store.noteAccepted({ requestId, text: said, author: null, createdAt: new Date().toISOString() }, runId);
  }
  async function stop(): Promise<void> {
    const outcome = await actions.cancel();
    if (!outcome.isDone) setError(outcome.error);
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      className="rounded-lg border border-line-strong bg-surface focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/20"
    >
      <textarea
        ref={textarea}
        value={text}
        rows={1}
        dir="auto"
        aria-label="Message to the agent"
        aria-keyshortcuts="/"
        placeholder={isBusy ? "Say what comes next" : "Ask for something else"}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void send();
        }}
        className="field-sizing-content block max-h-48 min-h-10 w-full resize-none bg-transparent px-3 py-2 text-base outline-none placeholder:text-faint"
      />
      {error && (
        <p role="alert" className="px-3 pb-1 text-bad text-sm">
          {error}
        </p>
      )}
      <div className="flex items-center gap-2 px-2 pb-2">
        <span className="flex-1 truncate pl-1 text-faint text-xs max-sm:invisible">
          {isBusy ? "Sent when this turn ends" : "Enter sends, Shift+Enter breaks the line"}
        </span>
        {isBusy && (
          <Button size="sm" variant="outline" className="h-7" onClick={stop}>
            <Square aria-hidden className="fill-current" /> Stop
            <span className="contents max-sm:hidden">
              <Kbd>Esc</Kbd>
            </span>
          </Button>
        )}
        <Button
          type="submit"
          size="sm"
          variant="primary"
          className="h-7"
          disabled={text.trim() === "" || isSending}
        >
          <ArrowUp aria-hidden /> {isBusy ? "Queue" : "Send"}
        </Button>
      </div>
    </form>
  );
}
