"use client";

import { CircleSlash, Play, RotateCw, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ATTEMPTS_MAX } from "#lib/page/labels/describe-state.ts";
import { describeStop } from "#lib/page/labels/describe-stop.ts";
import { findFollowUp } from "#lib/page/state/find-follow-up.ts";
import type { RunView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";

/**
 * Shows the notice of a run that was stopped, was retried, failed, or did not reach its page. After the session's last
 * run, a button continues the work or tries it again.
 */
export function RunNotice({ run, retriedAs }: { run: RunView; retriedAs: RunView | undefined }) {
  const state = useSession();
  if (run.state === "cancelled") {
    return (
      <Notice icon={<CircleSlash />} className="text-faint" action={<FollowUpButton run={run} />}>
        {describeStop(run.runId, state)}
      </Notice>
    );
  }
  if (retriedAs) {
    return (
      <Notice icon={<RotateCw />} className="text-faint">
        Attempt {run.attempt} of {ATTEMPTS_MAX} failed: {run.error}
      </Notice>
    );
  }
  const { title, reason } =
    run.pageError === null
      ? { title: "Failed", reason: run.error ?? "the run ended with an error." }
      : { title: "Page not reached", reason: run.pageError };
  return (
    <Notice icon={<TriangleAlert />} className="text-bad" action={<FollowUpButton run={run} />}>
      <span className="font-medium">{title}:</span> {reason}
    </Notice>
  );
}

function Notice({
  icon,
  className,
  action,
  children,
}: {
  icon: ReactNode;
  className: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-col items-start gap-2 text-sm">
      <p
        className={`flex items-start gap-2 [overflow-wrap:anywhere] [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0 ${className}`}
      >
        {icon}
        <span>{children}</span>
      </p>
      {action}
    </div>
  );
}

/** Shows the button that sends a message for the person: the one that continues, or the last one again. */
function FollowUpButton({ run }: { run: RunView }) {
  const { store, actions } = useRuntime();
  const followUp = findFollowUp(useSession(), run);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  if (!followUp) return null;
  async function send({ text, attachments }: NonNullable<typeof followUp>): Promise<void> {
    setSending(true);
    setError(null);
    const outcome = await actions.sendMessage(text, "queue", attachments);
    setSending(false);
    if (!outcome.isDone) return setError(outcome.error);
    const { requestId, runId } = outcome.answer;
    const createdAt = new Date().toISOString();
    store.addAcceptedMessage(
      { requestId, mode: "queue", text, attachments, annotations: [], author: null, createdAt },
      runId,
    );
  }
  const isRetry = followUp.kind === "retry";
  return (
    <>
      <Button
        size="sm"
        className="ml-6 h-7"
        disabled={isSending}
        title={isRetry ? "Sends your last message again" : `Sends “${followUp.text}”`}
        onClick={() => send(followUp)}
      >
        {isRetry ? <RotateCw aria-hidden /> : <Play aria-hidden />}
        {isRetry ? "Try again" : "Continue"}
      </Button>
      {error && (
        <p role="alert" className="ml-6 text-bad">
          {error}
        </p>
      )}
    </>
  );
}
