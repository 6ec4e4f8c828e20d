"use client";

import { ArrowUp, Paperclip } from "lucide-react";
import { type RefObject, useState } from "react";
import { isWorking, maySteer } from "#lib/page/state/session-state.ts";
import type { FollowUpMode } from "#lib/page/state/view-types.ts";
import { FileButton } from "../../files/file-button.tsx";
import { UploadList } from "../../files/upload-list.tsx";
import { useFileDrop } from "../../files/use-file-drop.ts";
import { useUploads } from "../../files/use-uploads.ts";
import { PlanPanel } from "../../planning/plan-panel.tsx";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { lazily } from "../../ui/lazily.tsx";
import { CANNOT_STEER, MODES, ModeChoice } from "./mode-choice.tsx";
import { StateLine } from "./state-line.tsx";
import { StopButton } from "./stop-button.tsx";
import { useStop } from "./stop-context.tsx";
import { useDraft } from "./use-draft.ts";
import { useSyncQueue } from "./use-sync-queue.ts";

const ElicitationForms = lazily(
  async () => (await import("./elicitation-form.tsx")).ElicitationForms,
  <div className="min-h-40" />,
);
const AgentControls = lazily(
  async () => (await import("./agent-controls.tsx")).AgentControls,
  <div className="min-h-8" />,
);
const Approvals = lazily(async () => (await import("../approvals/approvals.tsx")).Approvals);

/**
 * Shows the lower part of the conversation: the plan, the session's state, the agent's open questions, the calls that
 * wait for approval, and the message box.
 */
export function Composer({
  textarea,
  showBrowser,
  className,
}: {
  textarea: RefObject<HTMLTextAreaElement | null>;
  /** Shows the live browser if the page is narrow. Absent if the page cannot. */
  showBrowser?: () => void;
  className?: string;
}) {
  const { session, role, agent, elicitations, waitingOn } = useSession();
  useSyncQueue();
  return (
    <section
      aria-label="Message"
      className={cn("flex max-h-[70dvh] min-h-0 flex-col gap-2 border-t bg-canvas px-3 pt-2 pb-3", className)}
    >
      <PlanPanel />
      <StateLine />
      {elicitations.length > 0 && <ElicitationForms onReplied={() => textarea.current?.focus()} />}
      {(session.asksApproval || waitingOn?.ids.some((id) => id.startsWith("itm_"))) && (
        <Approvals onSettled={() => textarea.current?.focus()} {...(showBrowser && { showBrowser })} />
      )}
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
  // While the agent itself asks something, a message steers the turn: the agent gets the message instead of an answer.
  const asks =
    state.elicitations.length > 0 ||
    [...state.approvals, ...state.handovers].some(({ agentName }) => agentName === undefined);
  const { error: stopError } = useStop();
  const attached = useUploads("uploads", ATTACHMENTS_MAX);
  const { isOver, dropProps, onPaste } = useFileDrop(attached.add, state.session.hasWorkspace);
  const { text, setText, chosen, setChosen, sendError, send, maySend } = useMessage(attached);
  const canSteer = maySteer(state);
  const mode = !isBusy || (chosen === "steer" && !canSteer) ? "queue" : asks ? "steer" : chosen;
  const error = sendError ?? (isBusy ? stopError : null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(mode);
      }}
      className="rounded-lg border border-line-strong bg-surface focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/20 data-over:border-accent"
      data-over={isOver || undefined}
      {...dropProps}
    >
      <textarea
        ref={textarea}
        value={text}
        rows={1}
        dir="auto"
        aria-label="Message to the agent"
        aria-keyshortcuts="/"
        placeholder={
          asks ? "Or tell the agent something else" : isBusy ? MODES[mode].does : "Ask for something else"
        }
        onChange={(event) => setText(event.target.value)}
        onPaste={onPaste}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          const isSteer = event.ctrlKey || event.metaKey;
          void send(isBusy && isSteer && canSteer ? "steer" : mode);
        }}
        className="field-sizing-content block max-h-48 min-h-10 w-full resize-none bg-transparent px-3 py-2 text-base outline-none placeholder:text-faint"
      />
      <UploadList
        label="Files of the message"
        uploads={attached.uploads}
        onRemove={attached.remove}
        className="px-3 pb-2"
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
        {state.session.hasWorkspace && (
          <FileButton label="Attach files" onFiles={attached.add}>
            <Paperclip />
          </FileButton>
        )}
        {isBusy && <StopButton />}
        <Button type="submit" size="sm" variant="primary" className="h-7" disabled={!maySend}>
          <ArrowUp aria-hidden />
          <span className="max-sm:sr-only">Send</span>
        </Button>
      </div>
    </form>
  );
}

/** How many files a message can have. */
const ATTACHMENTS_MAX = 10;

/**
 * Returns the message that the person is writing, and a function that sends it with its files. A message can be sent
 * once its files are uploaded.
 */
function useMessage({ uploads, forget }: Pick<ReturnType<typeof useUploads>, "uploads" | "forget">) {
  const { store, actions, drafts } = useRuntime();
  const { clearError } = useStop();
  const [text, setText] = useDraft(drafts.readMessage, drafts.writeMessage, () => "");
  const [chosen, setChosen] = useState<FollowUpMode>("queue");
  const [isSending, setSending] = useState(false);
  const [sendError, setSendError] = useState<string | null>(null);

  const isUploading = uploads.some(({ path, error }) => path === null && error === null);
  const isEmpty = text.trim() === "" && !uploads.some(({ path }) => path !== null);
  const maySend = !isEmpty && !isUploading && !isSending;

  async function send(mode: FollowUpMode): Promise<void> {
    const sent = text.trim();
    if (!maySend) return;
    const files = uploads.filter(({ path }) => path !== null);
    const paths = files.flatMap(({ path }) => path ?? []);
    setSending(true);
    setSendError(null);
    clearError();
    const outcome = await actions.sendMessage(sent, mode, paths);
    setSending(false);
    if (!outcome.isDone) return setSendError(outcome.error);
    // Keeps text that the person typed during the request, because it belongs to the next message.
    setText((current) => (current.trim() === sent ? "" : current));
    forget(files);
    // Resets the mode, so that the next message interrupts the turn only if the person chooses that mode again.
    if (mode === "interrupt") setChosen("queue");
    const { requestId, runId } = outcome.answer;
    const createdAt = new Date().toISOString();
    store.addAcceptedMessage(
      { requestId, mode, text: sent, attachments: paths, annotations: [], author: null, createdAt },
      runId,
    );
  }
  return { text, setText, chosen, setChosen, sendError, send, maySend };
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
