import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { callWithNode } from "./evaluate-in-frame.ts";
import type { RefCounter } from "./page-kit.ts";

/** Where something is, in CSS pixels of the main frame's viewport. */
type Box = { x: number; y: number; width: number; height: number };

/** One frame of the page, whichever process it lives in. */
export type PageFrame = {
  /** `main`, or `f1`, `f2` … in the order in which frames were first seen; a frame keeps it. */
  key: string;
  parentKey: string | null;
  refs: RefCounter;
  /** The ref of the iframe element in the parent frame; null for the main frame. */
  ownerRef: string | null;
  /** DevTools' own id. */
  id: string;
  url: string;
  name: string;
  origin: string;
  isCrossOrigin: boolean;
  /** Selectors of the iframe elements that lead to it, outermost first; empty for the main frame. */
  path: string[];
  /** Where its viewport lies in the main frame's. */
  box: Box;
  isVisible: boolean;
  session: CDPSession;
  /** A world of our own in this frame, which the page's scripts cannot touch. */
  contextId: number;
};

/** Joins the parts of a frame's path: `iframe#a → iframe#b`. */
export const FRAME_ARROW = " → ";

const FRAMES_MAX = 60;
const WORLD_NAME = "agent-session-tools";

/**
 * Reads every frame of the session's page, cross-origin ones included.
 *
 * @param page another page of the session. @throws Error when the page is gone.
 */
export async function withFrames<Result>(
  live: LiveBrowser,
  work: (frames: PageFrame[], page: Page) => Promise<Result>,
  page = live.page(),
): Promise<Result> {
  const main = sessionOf(page.context(), page);
  const others = page.frames().slice(1, FRAMES_MAX);
  // Expected: a frame of the same process has no session of its own.
  const own = others.map((frame) => sessionOf(page.context(), frame).catch(() => undefined));
  const sessions = [await main, ...(await Promise.all(own))].filter((session) => session !== undefined);
  return work(await describeFrames(sessions, refsOf(live)), page);
}

const sessionsOf = new WeakMap<Page | Frame, Promise<CDPSession>>();

/**
 * The tools' DevTools session with a page, or with a frame that has a process of its own. It is kept: a world that is
 * made through another session would be a new one, which lasts until the document is left.
 */
function sessionOf(context: BrowserContext, target: Page | Frame): Promise<CDPSession> {
  const known = sessionsOf.get(target);
  if (known) return known;
  const opened = context.newCDPSession(target);
  const forget = () => void (sessionsOf.get(target) === opened && sessionsOf.delete(target));
  sessionsOf.set(target, opened);
  opened.then((session) => session.once("close", forget), forget);
  return opened;
}

/** What was given out in one browser: the number of each frame, and for each prefix the refs so far. */
type BrowserRefs = {
  frameNumbers: Map<string, number>;
  counters: Map<string, RefCounter>;
  first: number;
};

const refsOfContext = new WeakMap<BrowserContext, BrowserRefs>();

function refsOf({ context, firstRef }: LiveBrowser): BrowserRefs {
  const known = refsOfContext.get(context);
  if (known) return known;
  const refs = { frameNumbers: new Map(), counters: new Map(), first: firstRef };
  refsOfContext.set(context, refs);
  return refs;
}

/** The counter of a frame's refs: `e1` in the main frame, `f1e1` in the first other one. */
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
    for (const frame of tree ? flatten(tree.frameTree) : []) found.set(frame.id, { frame, session });
  }
  const frames: PageFrame[] = [];
  const children = (parentId: string | undefined) =>
    [...found.values()].filter(({ frame }) => frame.parentId === parentId);
  const visit = async (parentId: string | undefined, parent: PageFrame | undefined) => {
    for (const { frame, session } of children(parentId)) {
      const opened = await openFrame(frame, session, parent, refs).catch(() => undefined);
      // A frame that was removed meanwhile is no longer part of the page.
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
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frame.id,
    worldName: WORLD_NAME,
  });
  const owner = parent ? await describeOwner(parent, frame.id) : undefined;
  // DevTools' own field does not contain the inherited origin of a srcdoc frame.
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
  return callWithNode(parent, backendNodeId, (kit, element) => {
    const box = element.getBoundingClientRect();
    const { clientLeft, clientTop, clientWidth, clientHeight } = element;
    return {
      ref: kit.refOf(element),
      selector: kit.selectorOf(element),
      x: box.x + clientLeft,
      y: box.y + clientTop,
      width: clientWidth,
      height: clientHeight,
      isVisible: kit.isVisible(element),
    };
  });
}

/** The frames that a tool's `frame` argument names: by key, by selector path, by name, or by a part of the address. */
export function selectFrames(frames: PageFrame[], wanted: string | undefined): PageFrame[] {
  if (wanted === undefined) return frames;
  const exact = frames.filter(
    (frame) =>
      frame.key === wanted ||
      frame.path.join(FRAME_ARROW) === wanted ||
      (frame.name !== "" && frame.name === wanted),
  );
  return exact.length > 0 ? exact : frames.filter((frame) => frame.url.includes(wanted));
}

/** Lists the frames, as the error for a `frame` argument that matches none. */
export const explainFrames = (frames: PageFrame[], wanted: string) =>
  `No frame "${wanted}". Frames: ${frames.map((frame) => `${frame.key} (${frame.url.slice(0, 100)})`).join(", ")}.`;
