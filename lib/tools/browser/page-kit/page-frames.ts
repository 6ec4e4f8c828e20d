import type { CDPSession, Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { unlessStalled } from "#lib/browser/page/pending-documents.ts";
import type { RefCounter } from "#lib/injected/page-kit/page-kit.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { callWithNode } from "./evaluate-in-frame.ts";
import type { PageFrame } from "./page-frame.ts";
import { openWorld, sessionOf } from "./tool-world.ts";

/** Separates the parts of a frame's path, as in `iframe#a → iframe#b`. */
export const FRAME_ARROW = " → ";

/** Maximum number of frames with a process of their own, and of all frames of a page. Further frames are left out. */
const FRAMES_MAX = 60;
const FRAMES_IN_ALL_MAX = 200;

/**
 * Calls `work` with the frames of the session's page, including cross-origin ones. At most 200 frames are included, and
 * a frame that has its own process is left out if it is not among the first 60.
 *
 * @param page a page of the session; by default the current one. @throws Error if the page is gone;
 * PendingDocumentError if a navigation of the page is pending. `readPage` then reads a copy of the page.
 */
export function withFrames<Result>(
  live: LiveBrowser,
  work: (frames: PageFrame[], page: Page) => Promise<Result>,
  page = live.page(),
): Promise<Result> {
  return unlessStalled(live.documents, page, async () => work(await findFrames(live, page), page));
}

async function findFrames(live: LiveBrowser, page: Page): Promise<PageFrame[]> {
  const main = sessionOf(page.context(), page);
  const frames = page.frames().slice(1, FRAMES_MAX);
  // A frame that waits for its next document does not answer if it has its own process.
  const others = frames.filter((frame) => live.documents.of(frame) === undefined);
  // `newCDPSession` fails for a frame in the process of its parent, because such a frame has no DevTools session of its
  // own.
  const own = others.map((frame) => sessionOf(page.context(), frame).catch(() => undefined));
  const sessions = [await main, ...(await Promise.all(own))].filter((session) => session !== undefined);
  return describeFrames(sessions, refsOf(live));
}

/**
 * The state of the refs in one browser: the number of each inner frame by its DevTools id, the counter of each prefix,
 * and the number with which the refs of a frame begin.
 */
type BrowserRefs = {
  frameNumbers: Map<string, number>;
  counters: Map<string, RefCounter>;
  first: number;
};

/** The refs by the browser's activity log, which the copies of a page share with the page. */
const refsOfBrowser = new WeakMap<LiveBrowser["activity"], BrowserRefs>();

function refsOf({ activity, firstRef }: LiveBrowser): BrowserRefs {
  const cached = refsOfBrowser.get(activity);
  if (cached) return cached;
  const refs = { frameNumbers: new Map(), counters: new Map(), first: firstRef };
  refsOfBrowser.set(activity, refs);
  return refs;
}

/** The counter of a frame's refs. Refs look like `e1` in the main frame, and like `f1e1` in the first inner frame. */
function counterOf(refs: BrowserRefs, frameId: string, isMain: boolean): RefCounter {
  if (!isMain && !refs.frameNumbers.has(frameId)) refs.frameNumbers.set(frameId, refs.frameNumbers.size + 1);
  const prefix = isMain ? "" : `f${refs.frameNumbers.get(frameId)}`;
  const counter = refs.counters.get(prefix) ?? { prefix, next: refs.first };
  refs.counters.set(prefix, counter);
  return counter;
}

type FrameTree = {
  frame: { id: string; parentId?: string; url: string; name?: string };
  childFrames?: FrameTree[];
};

async function describeFrames(sessions: CDPSession[], refs: BrowserRefs): Promise<PageFrame[]> {
  const found = new Map<string, { frame: FrameTree["frame"]; session: CDPSession }>();
  for (const session of sessions) {
    const tree = await session.send("Page.getFrameTree").catch(() => undefined);
    for (const frame of tree ? flatten(tree.frameTree) : [])
      if (found.size < FRAMES_IN_ALL_MAX) found.set(frame.id, { frame, session });
  }
  const frames: PageFrame[] = [];
  const children = (parentId: string | undefined) =>
    [...found.values()].filter(({ frame }) => frame.parentId === parentId);
  const visit = async (parentId: string | undefined, parent: PageFrame | undefined) => {
    for (const { frame, session } of children(parentId)) {
      const opened = await openFrame(frame, session, parent, refs).catch(() => undefined);
      // `openFrame` fails if the frame was removed after the frame tree was read. Such a frame is left out.
      if (!opened) continue;
      frames.push(opened);
      await visit(frame.id, opened);
    }
  };
  await visit(undefined, undefined);
  const first = frames[0];
  if (!first) throw new Error("The page is gone, or is being replaced; try again.");
  for (const frame of frames) frame.isCrossOrigin = frame.origin !== first.origin;
  return frames;
}

const flatten = (tree: FrameTree): FrameTree["frame"][] => [
  tree.frame,
  ...(tree.childFrames ?? []).flatMap((child) => flatten(child)),
];

async function openFrame(
  frame: FrameTree["frame"],
  session: CDPSession,
  parent: PageFrame | undefined,
  refs: BrowserRefs,
): Promise<PageFrame> {
  const contextId = await openWorld(session, frame.id);
  const owner = parent ? await describeOwner(parent, frame.id) : undefined;
  // Asks the frame for its origin, because DevTools does not report the origin that a srcdoc frame inherits.
  const { result } = await session.send("Runtime.evaluate", { expression: "self.origin", contextId });
  const counter = counterOf(refs, frame.id, parent === undefined);
  return {
    key: counter.prefix || "main",
    parentKey: parent?.key ?? null,
    refs: counter,
    ownerRef: owner?.ref ?? null,
    id: frame.id,
    url: frame.url,
    name: frame.name ?? "",
    origin: String(result.value),
    isCrossOrigin: false,
    path: parent ? [...parent.path, owner?.selector ?? "iframe"] : [],
    box: {
      x: (parent?.box.x ?? 0) + (owner?.x ?? 0),
      y: (parent?.box.y ?? 0) + (owner?.y ?? 0),
      width: owner?.width ?? 0,
      height: owner?.height ?? 0,
    },
    isVisible: parent === undefined || (parent.isVisible && owner?.isVisible === true),
    session,
    contextId,
  };
}

async function describeOwner(parent: PageFrame, frameId: string) {
  const { backendNodeId } = await parent.session.send("DOM.getFrameOwner", { frameId });
  return callWithNode(parent, backendNodeId, "describeOwner");
}

/**
 * Selects the frames whose key, selector path or name is the `frame` argument of a tool. If there is no such frame,
 * selects the frames whose URL contains the argument. Without an argument, selects all frames.
 */
export function selectFrames(frames: PageFrame[], query: string | undefined): PageFrame[] {
  if (query === undefined) return frames;
  const exact = frames.filter(
    (frame) =>
      frame.key === query ||
      frame.path.join(FRAME_ARROW) === query ||
      (frame.name !== "" && frame.name === query),
  );
  return exact.length > 0 ? exact : frames.filter((frame) => frame.url.includes(query));
}

/** Returns the error message for a `frame` argument that matches no frame. The message lists all frames. */
export const explainFrames = (frames: PageFrame[], query: string) =>
  `No frame "${query}". ${quoteAsData(
    "the page",
    `Frames: ${frames.map((frame) => `${frame.key} (${shorten(frame.url, 100)})`).join(", ")}`,
  )}`;
