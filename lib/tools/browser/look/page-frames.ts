import type { CDPSession, Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { callWithNodes } from "./evaluate-in-frame.ts";

/** Where something is, in CSS pixels of the main frame's viewport. */
type Box = { x: number; y: number; width: number; height: number };

/** One frame of the page, whichever process it lives in. */
export type PageFrame = {
  /** `main`, or `f1`, `f2` … in document order. */
  key: string;
  parentKey: string | null;
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
 * Opens every frame of the session's page for reading, cross-origin ones included, and closes them again afterwards.
 * @throws Error when the page is gone.
 */
export async function withFrames<Result>(
  live: LiveBrowser,
  work: (frames: PageFrame[], page: Page) => Promise<Result>,
): Promise<Result> {
  const page = live.page();
  const main = await page.context().newCDPSession(page);
  const opened: CDPSession[] = [main];
  try {
    const own = await Promise.all(
      page
        .frames()
        .slice(1, FRAMES_MAX)
        // Expected: a frame of the same process has no session of its own.
        .map((frame) =>
          page
            .context()
            .newCDPSession(frame)
            .catch(() => undefined),
        ),
    );
    for (const session of own) if (session) opened.push(session);
    return await work(await describeFrames(opened), page);
  } finally {
    await Promise.all(opened.map((session) => session.detach().catch(() => {})));
  }
}

type FrameTree = {
  frame: { id: string; parentId?: string; url: string; name?: string };
  childFrames?: FrameTree[];
};

async function describeFrames(sessions: CDPSession[]): Promise<PageFrame[]> {
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
      const opened = await openFrame(frame, session, parent, frames.length).catch(() => undefined);
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
  index: number,
): Promise<PageFrame> {
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frame.id,
    worldName: WORLD_NAME,
  });
  const owner = parent ? await describeOwner(parent, frame.id) : undefined;
  // DevTools' own field does not contain the inherited origin of a srcdoc frame.
  const { result } = await session.send("Runtime.evaluate", { expression: "self.origin", contextId });
  return {
    key: index === 0 ? "main" : `f${index}`,
    parentKey: parent?.key ?? null,
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
  const [owner] = await callWithNodes(parent, [backendNodeId], (kit, elements) =>
    elements.map((element) => {
      const box = element.getBoundingClientRect();
      const { clientLeft, clientTop, clientWidth, clientHeight } = element;
      return {
        selector: kit.selectorOf(element),
        x: box.x + clientLeft,
        y: box.y + clientTop,
        width: clientWidth,
        height: clientHeight,
        isVisible: kit.isVisible(element),
      };
    }),
  );
  return owner;
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
