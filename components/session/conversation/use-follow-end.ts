"use client";

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** A list counts as scrolled to its end if fewer than this many pixels are below its visible part. */
const AT_END_PX = 48;

/**
 * Keeps the end of a growing list in view. Stops when the reader scrolls away from the end, and continues when the
 * reader has scrolled back to the end.
 *
 * @returns whether the end is kept in view, and a function that scrolls to the end.
 */
export function useFollowEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
): { isFollowing: boolean; goToEnd: () => void } {
  const [isFollowing, setFollowing] = useState(true);
  const follows = useRef(true);
  const height = useRef(0);

  useEffect(() => {
    const view = scroller.current;
    const list = content.current;
    if (!view || !list) return;
    const setAtEnd = (isAtEnd: boolean) => {
      follows.current = isAtEnd;
      setFollowing(isAtEnd);
    };
    const observer = new ResizeObserver(() => {
      if (follows.current) view.scrollTop = view.scrollHeight;
      height.current = view.scrollHeight;
    });
    const onScroll = () => {
      // Content that grows also fires scroll events. Therefore, while the end is kept in view, an event after a change
      // of the height does not count as scrolling by the reader.
      if (view.scrollHeight !== height.current && follows.current) return;
      setAtEnd(view.scrollHeight - view.scrollTop - view.clientHeight < AT_END_PX);
    };
    view.scrollTop = view.scrollHeight;
    observer.observe(list);
    observer.observe(view);
    view.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      view.removeEventListener("scroll", onScroll);
    };
  }, [scroller, content]);

  const goToEnd = useCallback(() => {
    const view = scroller.current;
    if (!view) return;
    follows.current = true;
    setFollowing(true);
    view.scrollTo({ top: view.scrollHeight, behavior: "instant" });
  }, [scroller]);
  return { isFollowing, goToEnd };
}
