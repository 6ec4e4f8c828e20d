"use client";

import { useEffect } from "react";
import { useLiveStatus, useRuntime, useSession } from "#components/runtime/session-context.tsx";
import type { PageSize } from "./use-live-pictures.ts";

/** Sizes of the page that a person can choose, in CSS pixels. */
const VIEWPORTS = {
  desktop: { width: 1280, height: 800 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
} as const;

/** A size of the page: a preset, or that of the room for the live view. Null changes nothing. */
export type ViewportChoice = keyof typeof VIEWPORTS | "fit" | null;

/** The smallest and the largest edge that the service accepts. */
const EDGE_MIN = 240;
const EDGE_MAX = 2_560;
/**
 * The most pixels of a picture for a CSS pixel. More make pictures slow and are hardly visible. On touch screens, swipes
 * scroll an enlarged page farther than the finger moves.
 */
const SCALE_MAX = 2;
const SCALE_MAX_OF_TOUCH = 1.5;
/** How long the room must keep its size before the page follows it. */
const SETTLE_MS = 150;

/**
 * While this person has control, gives the page the size that they chose, and its pictures the sharpness of their screen.
 *
 * @param shownScale how large the picture is shown, as a part of the page's size.
 */
export function useViewport(choice: ViewportChoice, room: PageSize | null, shownScale: number): void {
  const { live } = useRuntime();
  const hasControl = useSession().control === "you";
  const isConnected = useLiveStatus().state === "open";
  const size = choice === "fit" ? room && toViewport(room) : choice && VIEWPORTS[choice];
  const width = size?.width;
  const height = size?.height;
  const isFollowing = choice !== null;

  useEffect(() => {
    if (!hasControl || !isConnected) return;
    // A page that gets the size of the room is not shrunk.
    const shown = choice === "fit" ? 1 : shownScale;
    const most = matchMedia("(pointer: coarse)").matches ? SCALE_MAX_OF_TOUCH : SCALE_MAX;
    const scale = Math.max(1, Math.min(most, Math.round(devicePixelRatio * shown * 4) / 4));
    const next = width === undefined || height === undefined ? null : { width, height };
    if (!isFollowing && scale === 1) return;
    const timer = setTimeout(() => live.send({ type: "viewport.set", size: next, scale }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [live, hasControl, isConnected, isFollowing, choice, width, height, shownScale]);
}

const toViewport = ({ width, height }: PageSize): PageSize => ({
  width: toEdge(width),
  height: toEdge(height),
});

const toEdge = (value: number): number => Math.max(EDGE_MIN, Math.min(EDGE_MAX, Math.floor(value)));

/** Returns the choice that a page of this size has; null for another size. */
export const choiceOf = (page: PageSize | null): keyof typeof VIEWPORTS | null =>
  (Object.keys(VIEWPORTS) as (keyof typeof VIEWPORTS)[]).find(
    (name) => VIEWPORTS[name].width === page?.width && VIEWPORTS[name].height === page.height,
  ) ?? null;
