import { useEffect, useRef, useState } from "react";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { useAnnotationActions } from "#components/runtime/use-annotation-actions.ts";
import { decodeFrame } from "#lib/client/frame-header.ts";
import type { ElementBox } from "#lib/client/wire.ts";

/** An annotated element that is on the page, with its box in the viewport. */
export type FoundPin = { id: string; box: ElementBox };

type Scroll = { x: number; y: number };

const NOTHING = { pins: [], at: null };

/** How long after a change of the picture the service looks, and how long after its last look. */
const REST_MS = 400;
const LOOK_PAUSE_MS = 3_000;

/**
 * Follows where the annotated elements are. The service looks for them after the picture has changed. Until it has, pins
 * move with the page's scrolling.
 */
export function useFoundPins(isWanted: boolean): FoundPin[] {
  const { onPicture } = useRuntime();
  const actions = useAnnotationActions();
  const { annotations, browser } = useSession();
  const [found, setFound] = useState<{ pins: FoundPin[]; at: Scroll | null }>(NOTHING);
  const [scroll, setScroll] = useState<Scroll | null>(null);
  const now = useRef<Scroll | null>(null);
  const { currentUrl } = browser;
  // The service looks again when there is another annotation, or a status changes.
  const known = annotations.map(({ id, status }) => `${id} ${status}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: these values say that the elements may be others
  useEffect(() => {
    if (!isWanted) return;
    let isStopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLooking = false;
    let isStale = true;
    let lastLookMs = Number.NEGATIVE_INFINITY;

    async function look(): Promise<void> {
      if (isLooking || isStopped) return;
      isLooking = true;
      isStale = false;
      lastLookMs = performance.now();
      const outcome = await actions.locate();
      isLooking = false;
      if (isStopped) return;
      if (outcome.isDone) {
        const pins = outcome.answer.flatMap(({ id, elements }) =>
          elements.flatMap((each) => (each.state === "found" && each.box ? [{ id, box: each.box }] : [])),
        );
        setFound({ pins, at: now.current });
      }
      if (isStale) schedule();
    }
    function schedule(): void {
      isStale = true;
      clearTimeout(timer);
      const waitMs = Math.max(
        REST_MS,
        Math.min(LOOK_PAUSE_MS, lastLookMs + LOOK_PAUSE_MS - performance.now()),
      );
      timer = setTimeout(look, waitMs);
    }
    const leave = onPicture((data) => {
      const frame = decodeFrame(data);
      if (!frame) return;
      const next = { x: frame.scrollX, y: frame.scrollY };
      if (now.current?.x !== next.x || now.current.y !== next.y) setScroll(next);
      now.current = next;
      // Until the first picture, the page has not scrolled.
      setFound((last) => (last.at === null ? { ...last, at: next } : last));
      if (!isStale) schedule();
    });
    void look();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      leave();
    };
  }, [actions, onPicture, isWanted, currentUrl, known]);
  // Those of the page before are somewhere else, or nowhere.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address says when
  useEffect(() => setFound(NOTHING), [currentUrl]);

  const byX = found.at && scroll ? found.at.x - scroll.x : 0;
  const byY = found.at && scroll ? found.at.y - scroll.y : 0;
  return found.pins.map(({ id, box }) => ({ id, box: { ...box, x: box.x + byX, y: box.y + byY } }));
}
