"use client";

import { ArrowUp } from "lucide-react";
import { type RefObject, useState } from "react";
import { isWorking, maySteer } from "#lib/page/state/session-state.ts";
import type { FollowUpMode } from "#lib/page/state/view-types.ts";
import { PlanPanel } from "../../planning/plan-panel.tsx";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { AgentControls } from "./agent-controls.tsx";
import { ElicitationForms } from "./elicitation-form.tsx";
import { CANNOT_STEER, MODES, ModeChoice } from "./mode-choice.tsx";
import { StateLine } from "./state-line.tsx";
import { StopButton } from "./stop-button.tsx";
import { useStop } from "./stop-context.tsx";
import { useSyncQueue } from "./use-sync-queue.ts";

/**
 * Shows the lower part of the conversation: the plan, the session's state, the agent's open questions, and the message
 * box.
 */
export function Composer({
  textarea,
  className,
}: {
  textarea: RefObject<HTMLTextAreaElement | null>;
  className?: string;
}) {
  const { role, agent } = useSession();
  useSyncQueue();
  return (
    <section
      aria-label="Message"
      className={cn("flex max-h-[70dvh] min-h-0 flex-col gap-2 border-t bg-canvas px-3 pt-2 pb-3", className)}
    >
      <PlanPanel />
      <StateLine />
      <ElicitationForms onReplied={() => textarea.current?.focus()} />
      {agent ? (
        <AgentControls />
      ) : role === "drive" ? (
        <MessageBox textarea={textarea} />
      ) : (
        <p className="text-faint text-sm">You are watching. This link does not allow sending messages.</p>
      )}
    </section>
  );
}

function MessageBox({ textarea }: { textarea: RefObject<HTMLTextAreaElement | null> }) {
  const state = useSession();
  const isBusy = isWorking(state);
  // While a question is open, a message steers the turn: the agent gets the message instead of an answer.
  const hasQuestion = state.elicitations.length > 0;
  const { error: stopError } = useStop();
  const { text, setText, chosen, setChosen, isSending, sendError, send } = useMessage();
  const canSteer = maySteer(state);
  const mode = !isBusy || (chosen === "steer" && !canSteer) ? "queue" : hasQuestion ? "steer" : chosen;
  const error = sendError ?? (isBusy ? stopError : null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(mode);
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
        placeholder={
          hasQuestion
            ? "Or tell the agent something else"
            : isBusy
              ? MODES[mode].does
              : "Ask for something else"
        }
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          const isSteer = event.ctrlKey || event.metaKey;
          void send(isBusy && isSteer && canSteer ? "steer" : mode);
        }}
        className="field-sizing-content block max-h-48 min-h-10 w-full resize-none bg-transparent px-3 py-2 text-base outline-none placeholder:text-faint"
      />
      {error && (
        <p role="alert" className="px-3 pb-1 text-bad text-sm">
          {error}
        </p>
      )}
      {isBusy && !canSteer && text.trim() !== "" && (
        <p className="px-3 pb-1 text-faint text-xs">{CANNOT_STEER}</p>
      )}
      <div className="flex items-center gap-2 px-2 pb-2">
        <MessageHint chosen={chosen} setChosen={setChosen} />
        <span className="flex-1" />
        {isBusy && <StopButton />}
        <Button
          type="submit"
          size="sm"
          variant="primary"
          className="h-7"
          disabled={text.trim() === "" || isSending}
        >
          <ArrowUp aria-hidden />
          <span className="max-sm:sr-only">Send</span>
        </Button>
      </div>
    </form>
  );
}

/** Returns the message that the person is writing, and a function that sends it. */
function useMessage() {
  const { store, actions } = useRuntime();
  const { clearError } = useStop();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<FollowUpMode>("queue");
  const [isSending, setSending] = useState(false);
  const [sendError, setSendError] = useState<string | null>(null);

  async function send(mode: FollowUpMode): Promise<void> {
    const sent = text.trim();
    if (sent === "" || isSending) return;
    setSending(true);
    setSendError(null);
    clearError();
    const outcome = await actions.sendMessage(sent, mode);
    setSending(false);
    if (!outcome.isDone) return setSendError(outcome.error);
    // Keeps text that the person typed during the request, because it belongs to the next message.
    setText((current) => (current.trim() === sent ? "" : current));
    // Resets the mode, so that the next message interrupts the turn only if the person chooses that mode again.
    if (mode === "interrupt") setChosen("queue");
    const { requestId, runId } = outcome.answer;
    const createdAt = new Date().toISOString();
    store.addAcceptedMessage({ requestId, mode, text: sent, author: null, createdAt }, runId);
  }
  return { text, setText, chosen, setChosen, isSending, sendError, send };
}

/**
 * Shows one of these below the text: what Esc does, that sending withdraws the open questions, the choice of how the
 * message reaches a running turn, or which keys to use.
 */
function MessageHint({
  chosen,
  setChosen,
}: {
  chosen: FollowUpMode;
  setChosen: (mode: FollowUpMode) => void;
}) {
  const state = useSession();
  const isBusy = isWorking(state);
  const { isArmed } = useStop();
  if (isBusy && isArmed)
    return <span className="truncate pl-1 font-medium text-warn text-xs">Press Esc again to stop</span>;
  if (state.elicitations.length > 0)
    return (
      <span className="truncate pl-1 text-faint text-xs">
        Sending withdraws {state.elicitations.length === 1 ? "the question" : "the questions"}
      </span>
    );
  if (isBusy)
    return (
      <ModeChoice
        mode={maySteer(state) || chosen !== "steer" ? chosen : "queue"}
        maySteer={maySteer(state)}
        onChange={setChosen}
      />
    );
  return (
    <span className="truncate pl-1 text-faint text-xs max-sm:invisible">
      Enter sends, Shift+Enter breaks the line
    </span>
  );
}
