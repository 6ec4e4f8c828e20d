import { useCallback, useEffect, useRef, useState } from "react";
import { useAnnotationActions } from "#components/runtime/use-annotation-actions.ts";
import type { MarkedPart } from "#lib/client/wire.ts";
import type { Target } from "#lib/page/actions/annotation-actions.ts";

/** How long the page waits between two questions about what is under the pointer, in milliseconds. */
const PREVIEW_PAUSE_MS = 150;

/**
 * Asks the service what the page has where a person points. A preview is shown while the person moves; a marked target is
 * shown until it is commented on or closed.
 */
export function useMarking() {
  const actions = useAnnotationActions();
  const [preview, setPreview] = useState<Target | null>(null);
  const [target, setTarget] = useState<Target | null>(null);
  const [message, setMessage] = useState("");
  const [isBusy, setBusy] = useState(false);
  const wanted = useRef<MarkedPart | null>(null);
  const isAsking = useRef(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      wanted.current = null;
    };
  }, []);

  /** Shows what is there, unless the person has moved on meanwhile. One question at a time. */
  const look = useCallback(
    async (part: MarkedPart | null) => {
      wanted.current = part;
      if (part === null) setPreview(null);
      if (isAsking.current) return;
      isAsking.current = true;
      while (wanted.current) {
        const asked: MarkedPart = wanted.current;
        const outcome = await actions.describe(asked);
        if (wanted.current === asked) wanted.current = null;
        else if (wanted.current === null) break;
        if (isGone.current) break;
        if (outcome.isDone) setPreview(outcome.answer);
        await new Promise((resolve) => setTimeout(resolve, PREVIEW_PAUSE_MS));
      }
      isAsking.current = false;
    },
    [actions],
  );
  async function mark(part: MarkedPart): Promise<void> {
    void look(null);
    setBusy(true);
    setMessage("");
    const outcome = await actions.describe(part);
    setBusy(false);
    if (!outcome.isDone) return setMessage(outcome.error);
    setTarget(outcome.answer);
    if (!outcome.answer) setMessage(NOTHING[part.kind]);
  }
  /** @returns whether the comment was stored. */
  async function submit(comment: string): Promise<boolean> {
    if (!target) return false;
    setBusy(true);
    setMessage("");
    const outcome = await actions.submit(target, comment);
    setBusy(false);
    setMessage(outcome.isDone ? "Your comment is in the list of annotations." : `Not sent: ${outcome.error}`);
    if (outcome.isDone) setTarget(null);
    return outcome.isDone;
  }
  return { preview, target, message, isBusy, look, mark, submit, setMessage, close: () => setTarget(null) };
}

const NOTHING: Record<MarkedPart["kind"], string> = {
  element: "There is no element here.",
  area: "There is nothing to annotate here.",
  text: "There is no text here. Drag from the first to the last word.",
};
