"use client";

import { CloudOff, Globe, type LucideIcon, ShieldX, TriangleAlert, Unplug } from "lucide-react";
import { useState } from "react";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { Stage } from "#lib/page/state/view-types.ts";

type Failure = NonNullable<Stage["failure"]>;

/**
 * Explains over the live picture why a page could not be shown, and offers to try again. If there is a page of before, it
 * stays visible: the agent may continue with it.
 */
export function LoadProblem() {
  const state = useSession();
  const { actions } = useRuntime();
  const [closedId, setClosedId] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const failure = state.stage?.failure;
  if (!failure || failure.id === closedId || state.stage?.isLoading) return null;
  const { Icon, title, hint } = WORDS[failure.kind];
  const isBlank = (state.browser.currentUrl ?? "about:blank") === "about:blank";

  async function retry(url: string): Promise<void> {
    setError(null);
    const outcome = await actions.moveBrowser({ url });
    if (!outcome.isDone) setError(outcome.error);
  }
  return (
    <div
      className={cn(
        "absolute flex justify-center p-3",
        isBlank ? "inset-0 items-center overflow-auto bg-surface" : "inset-x-0 top-0",
      )}
    >
      <section
        aria-label="The page could not be opened"
        className={cn(
          "flex w-full max-w-md flex-col gap-3",
          isBlank
            ? "m-auto"
            : "max-h-full overflow-auto rounded-xl border bg-raised p-4 shadow-(color:--shadow-color) shadow-lg",
        )}
      >
        <Icon aria-hidden className="size-7 text-faint" />
        <h2 className="font-semibold text-lg">{title}</h2>
        <p className="break-all font-mono text-soft text-xs">{failure.url}</p>
        <p className="break-words text-sm text-soft">{asSentence(failure.reason)}</p>
        {hint && <p className="text-sm text-soft">{hint}</p>}
        {error && (
          <p role="alert" className="text-bad text-sm">
            {error}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          {mayDirect(state) && (
            <Button variant="primary" onClick={() => retry(failure.url)}>
              Retry
            </Button>
          )}
          {!isBlank && <Button onClick={() => setClosedId(failure.id)}>Close</Button>}
        </div>
      </section>
    </div>
  );
}

const WORDS: Record<Failure["kind"], { Icon: LucideIcon; title: string; hint?: string }> = {
  name: {
    Icon: Globe,
    title: "This address was not found",
    hint: "Check the address for typing errors. The site may also be gone.",
  },
  connection: {
    Icon: Unplug,
    title: "The site did not answer",
    hint: "It may be down or busy. Try again in a moment.",
  },
  certificate: {
    Icon: TriangleAlert,
    title: "The connection is not secure",
    hint: "The site’s certificate could not be verified, so the page was not opened.",
  },
  refused: {
    Icon: ShieldX,
    title: "This address may not be opened",
    hint: "The service opens only addresses that its operator permits.",
  },
  other: { Icon: CloudOff, title: "The page could not be opened" },
};

const asSentence = (reason: string): string => {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
