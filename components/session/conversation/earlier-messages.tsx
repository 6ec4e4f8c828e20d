"use client";

import { ArrowUp, LoaderCircle } from "lucide-react";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";

/**
 * Shows a button that loads earlier messages at the top of a long conversation. The visible messages keep their
 * position.
 */
export function EarlierMessages({ scroller }: { scroller: RefObject<HTMLDivElement | null> }) {
  const { store, actions } = useRuntime();
  const { messages, hasEarlier } = useSession();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const first = messages[0];
  /** The distance of the scroll position from the end of the list before the earlier messages are inserted. */
  const distance = useRef<number | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the first message is the trigger; the effect does not read it
  useLayoutEffect(() => {
    const view = scroller.current;
    if (!view || distance.current === null) return;
    view.scrollTop = view.scrollHeight - distance.current;
    distance.current = null;
  }, [first?.id, scroller]);

  async function load(): Promise<void> {
    if (!first || isLoading) return;
    setLoading(true);
    setError(null);
    const outcome = await actions.readEarlier(first.seq);
    setLoading(false);
    if (!outcome.isDone) return setError(outcome.error);
    const view = scroller.current;
    distance.current = view ? view.scrollHeight - view.scrollTop : null;
    store.addEarlier(outcome.answer);
  }

  if (!hasEarlier) return null;
  return (
    <li className="mb-4 flex flex-col items-center gap-1">
      <Button size="sm" variant="ghost" disabled={isLoading} onClick={load}>
        {isLoading ? <LoaderCircle aria-hidden className="animate-spin" /> : <ArrowUp aria-hidden />}
        {isLoading ? "Loading earlier messages" : "Load earlier messages"}
      </Button>
      {error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
    </li>
  );
}
