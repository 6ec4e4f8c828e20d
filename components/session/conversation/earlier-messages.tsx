"use client";

import { ArrowUp, LoaderCircle } from "lucide-react";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { useRuntime, useSession } from "../session-context.tsx";

/** At the top of a long conversation: brings what came before. What is being read stays where it is. */
export function EarlierMessages({ scroller }: { scroller: RefObject<HTMLDivElement | null> }) {
  const { store, actions } = useRuntime();
  const { messages, hasEarlier } = useSession();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const first = messages[0];
  /** How far the reader was from the end before the earlier messages were put in. */
  const distance = useRef<number | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the first message says when, it is not read
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
