import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { findNodeOf } from "./evaluate-in-frame.ts";
import { type PageFrame, withFrames } from "./page-frames.ts";

/** The element of a ref by DevTools' ids; undefined when it is not in the page. */
export const findRef = (
  live: LiveBrowser,
  ref: string,
): Promise<{ frameId: string; backendNodeId: number } | undefined> =>
  withFrames(live, async (frames) => {
    const prefix = /^(f\d+)?e\d+$/.exec(ref)?.[1] ?? "";
    const frame = frames.find(({ refs }) => refs.prefix === prefix);
    const backendNodeId = frame && (await findNodeOf(frame, ref));
    return frame && backendNodeId !== undefined ? { frameId: frame.id, backendNodeId } : undefined;
  });

/** For each frame inside the page, by its key, the refs of the iframe elements that lead to it, outermost first. */
export const listFrames = (live: LiveBrowser): Promise<Record<string, string[]>> =>
  withFrames(live, async ([main, ...others]) => {
    const byKey = new Map<string, PageFrame>(others.map((frame) => [frame.key, frame]));
    const ownersOf = ({ ownerRef, parentKey }: PageFrame): string[] => {
      const parent = parentKey === main?.key || parentKey === null ? undefined : byKey.get(parentKey);
      return [...(parent ? ownersOf(parent) : []), ...(ownerRef === null ? [] : [ownerRef])];
    };
    return Object.fromEntries(others.map((frame) => [frame.key, ownersOf(frame)]));
  });
