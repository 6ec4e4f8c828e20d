import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { findNodeOf } from "./evaluate-in-frame.ts";
import type { PageFrame } from "./page-frame.ts";
import { withFrames } from "./page-frames.ts";

/**
 * Finds the element that snapshots show with a ref, such as `e7` or `f1e3`. Searches the current page, then the other
 * tabs. Returns the DevTools ids of the element's frame and of the element. Returns undefined if no page has the
 * element.
 */
export async function findRef(
  live: LiveBrowser,
  ref: string,
): Promise<{ frameId: string; backendNodeId: number } | undefined> {
  const prefix = /^(f\d+)?e\d+$/.exec(ref)?.[1] ?? "";
  const find = async (frames: PageFrame[]) => {
    const frame = frames.find(({ refs }) => refs.prefix === prefix);
    const backendNodeId = frame && (await findNodeOf(frame, ref));
    return frame && backendNodeId !== undefined ? { frameId: frame.id, backendNodeId } : undefined;
  };
  const found = await withFrames(live, find);
  if (found) return found;
  for (const page of live.context.pages().filter((each) => each !== live.page())) {
    // A tab that is busy or closing is skipped.
    const foundInTab = await withFrames(live, find, page).catch(() => undefined);
    if (foundInTab) return foundInTab;
  }
  return undefined;
}

/** Maps the key of each inner frame to the refs of the iframe elements that contain the frame, outermost first. */
export const listFrames = (live: LiveBrowser): Promise<Record<string, string[]>> =>
  withFrames(live, async ([main, ...others]) => {
    const byKey = new Map<string, PageFrame>(others.map((frame) => [frame.key, frame]));
    const ownersOf = ({ ownerRef, parentKey }: PageFrame): string[] => {
      const parent = parentKey === main?.key || parentKey === null ? undefined : byKey.get(parentKey);
      return [...(parent ? ownersOf(parent) : []), ...(ownerRef === null ? [] : [ownerRef])];
    };
    return Object.fromEntries(others.map((frame) => [frame.key, ownersOf(frame)]));
  });
