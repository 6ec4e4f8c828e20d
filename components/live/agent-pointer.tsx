"use client";

import { useEffect, useRef } from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import type { PageSize } from "./use-live-pictures.ts";

const SHOWN_MS = 2_000;

/**
 * Shows an arrow where the agent moves the mouse pointer, and a ring for each press. The arrow fades out two seconds
 * after the last movement or press.
 */
export function AgentPointer({ page }: { page: PageSize }) {
  const { onTransientFrame } = useRuntime();
  const arrow = useRef<HTMLDivElement>(null);
  const ring = useRef<HTMLSpanElement>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = onTransientFrame((frame) => {
      if (frame.type !== "pointer" || !arrow.current) return;
      const { kind, x, y } = frame.data;
      const { style } = arrow.current;
      style.left = `${(x / page.width) * 100}%`;
      style.top = `${(y / page.height) * 100}%`;
      style.opacity = "1";
      clearTimeout(timer);
      timer = setTimeout(() => {
        style.opacity = "0";
      }, SHOWN_MS);
      if (kind === "down") showPress(ring.current);
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [page.width, page.height, onTransientFrame]);

  return (
    <div
      ref={arrow}
      aria-hidden
      className="pointer-events-none absolute opacity-0 transition-[left,top,opacity] duration-150 ease-out"
    >
      <span
        ref={ring}
        className="absolute size-8 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-accent opacity-0"
      />
      <svg width="18" height="20" viewBox="0 0 18 20" className="absolute drop-shadow-md" role="presentation">
        <path
          d="M1 1 L1 16 L5.2 12.4 L8 18.6 L11 17.3 L8.3 11.3 L14 11 Z"
          className="fill-accent stroke-white"
          strokeWidth="1.25"
          strokeLinejoin="round"
        />
      </svg>
    </div>
  );
}

function showPress(ring: HTMLElement | null): void {
  if (!ring || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  ring.animate(
    [
      { opacity: 0.9, transform: "translate(-50%, -50%) scale(0.3)" },
      { opacity: 0, transform: "translate(-50%, -50%) scale(1.2)" },
    ],
    { duration: 450, easing: "ease-out" },
  );
}
