import { z } from "zod";
import type { ElementInFrame } from "#lib/injected/overlay/describe-element.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { PickedElement } from "../overlay-model.ts";
import { type Call, callOn, type NodeRef } from "./call-on-node.ts";
import type { FrameSessions, SendCommand } from "./frame-sessions.ts";
import { boundsOf, fromQuad, type Point, type Quad, toQuad } from "./quads.ts";

/** A {@link PickedElement} that can be found again. */
export type LocatedElement = PickedElement & {
  /** Returns where the element is now; undefined if it is not shown. */
  follow: () => Promise<Box | undefined>;
};

/**
 * A DevTools session: that of the page, or that of a frame with a process of its own. A session has all frames that
 * share its process. `owner` is the frame's element in the session above it; undefined for the page.
 */
export type Level = { send: SendCommand; owner: Owner | undefined };
type Owner = NodeRef & { level: Level };

/** How deep frames can be nested. Elements in deeper frames are not found. */
const DEPTH_MAX = 16;
const URL_UNITS_MAX = 2_000;
/** Separates the selectors of frames, as in the agent's tools. */
export const FRAME_ARROW = " → ";
const OWNERS = new Set(["IFRAME", "FRAME", "OBJECT", "EMBED", "FENCEDFRAME"]);

const text = z.string();
const elementInFrame: z.ZodType<ElementInFrame> = z.object({
  selector: text,
  shadowSelector: text.nullable(),
  element: text,
  role: text.nullable(),
  name: text.nullable(),
  text,
  title: text,
  url: text,
});

/**
 * Finds the element that a page shows at a point of its viewport, in any frame and shadow root. DevTools finds it, so it
 * works without events and however the page blocks them. The overlay is not found.
 *
 * @returns undefined if there is none except the page's root element.
 * @throws Error if the page changes meanwhile.
 */
export async function locateElement(
  page: SendCommand,
  frames: FrameSessions,
  point: Point,
): Promise<LocatedElement | undefined> {
  let level: Level = { send: page, owner: undefined };
  let at = point;
  let found = await hitTest(page, at);
  for (let depth = 0; found && depth < DEPTH_MAX; depth += 1) {
    const { node } = await level.send("DOM.describeNode", { backendNodeId: found.backendNodeId });
    const inner = OWNERS.has(node.nodeName) && node.frameId ? await frames.open(node.frameId) : undefined;
    if (!inner) break;
    const part = toQuad(await contentOf(level.send, found), at);
    // The point is on the border of the frame.
    if (part.x < 0 || part.y < 0 || part.x >= 1 || part.y >= 1) break;
    const size = await viewportOf(inner);
    level = { send: inner, owner: { ...found, level } };
    at = { x: part.x * size.clientWidth, y: part.y * size.clientHeight };
    found = await hitTest(inner, at);
  }
  return found && locate(level, found, at);
}

async function locate(level: Level, found: NodeRef, point: Point): Promise<LocatedElement | undefined> {
  const { send } = level;
  const part = await partOfFrame(send, found.frameId, point);
  const refined = await refine(send, found, part);
  const path = await framesOf(level, found.frameId);
  if (!refined || (refined.nodeName === "HTML" && path.length === 0)) return undefined;
  const element = { backendNodeId: refined.backendNodeId, frameId: found.frameId };
  const own = await describeIn(send, element);
  const at = await boxOf(level, element);
  if (!at) return undefined;
  const { pageX, pageY } = await viewportOf(topOf(level).send);
  const { title, url } = path.at(0) ?? own;
  return {
    at,
    page: { title, url },
    description: {
      selector: own.selector,
      ...(own.shadowSelector !== null && { shadowSelector: own.shadowSelector }),
      ...(path.length > 0 && {
        frame: path.map(({ selector }) => selector).join(FRAME_ARROW),
        frameUrl: beginningOf(own.url, URL_UNITS_MAX),
      }),
      element: own.element,
      ...(own.role !== null && { role: own.role }),
      ...(own.name !== null && { name: own.name }),
      text: own.text,
      boundingBox: {
        x: Math.round(at.x + pageX),
        y: Math.round(at.y + pageY),
        width: Math.round(at.width),
        height: Math.round(at.height),
      },
    },
    follow: () => boxOf(level, element).catch(() => undefined),
  };
}

/** Describes the element of each frame around a frame, from the outermost. */
async function framesOf(level: Level, frameId: string): Promise<ElementInFrame[]> {
  const path: ElementInFrame[] = [];
  for (let at: Owner = { level, frameId, backendNodeId: 0 }; path.length < DEPTH_MAX; ) {
    const owner = await ownerOf(at.level, at.frameId);
    if (!owner) break;
    path.unshift(await describeIn(owner.level.send, owner));
    at = owner;
  }
  return path;
}

/** Returns the element of a frame, in the frame around it. Undefined for the page's main frame. */
async function ownerOf(level: Level, frameId: string): Promise<Owner | undefined> {
  const { frameTree } = await level.send("Page.getFrameTree");
  const parentId = parentIn(frameTree, frameId);
  if (parentId === undefined) return level.owner;
  const { backendNodeId } = await level.send("DOM.getFrameOwner", { frameId });
  return { level, frameId: parentId, backendNodeId };
}

type FrameTree = { frame: { id: string }; childFrames?: FrameTree[] };

function parentIn({ frame, childFrames = [] }: FrameTree, frameId: string): string | undefined {
  for (const child of childFrames) {
    const parentId = child.frame.id === frameId ? frame.id : parentIn(child, frameId);
    if (parentId !== undefined) return parentId;
  }
  return undefined;
}

/** Returns the element that is meant by a node that was found at a point, in parts of its frame. */
async function refine(send: SendCommand, found: NodeRef, { x, y }: Point) {
  const call: Call = { fn: "refineElement", args: [x, y] };
  return callOn(send, found, call, async ({ objectId }) => {
    if (objectId === undefined) return undefined;
    const { node } = await send("DOM.describeNode", { objectId });
    return node;
  });
}

/** Describes an element within its frame. */
async function describeIn(send: SendCommand, node: NodeRef): Promise<ElementInFrame> {
  const call: Call = { fn: "describeElement", returnByValue: true };
  return callOn(send, node, call, ({ value }) => elementInFrame.parse(value));
}

async function hitTest(send: SendCommand, { x, y }: Point): Promise<NodeRef | undefined> {
  // DevTools counts from the top left corner of the document.
  const { pageX, pageY } = await viewportOf(send);
  const point = { x: Math.floor(x + pageX), y: Math.floor(y + pageY) };
  return send("DOM.getNodeForLocation", point).catch(() => undefined);
}

/** Returns where a point of the session's viewport is in one of its frames, as parts of the frame's width and height. */
async function partOfFrame(send: SendCommand, frameId: string, { x, y }: Point): Promise<Point> {
  const owner = await ownerOf({ send, owner: undefined }, frameId);
  if (owner) return toQuad(await contentOf(send, owner), { x, y });
  const { clientWidth, clientHeight } = await viewportOf(send);
  return { x: x / clientWidth, y: y / clientHeight };
}

/** Returns the box around an element in the page's viewport; undefined if the element is not rendered. */
export async function boxOf(level: Level, { backendNodeId, frameId }: NodeRef): Promise<Box | undefined> {
  const { quads } = await level.send("DOM.getContentQuads", { backendNodeId });
  const zoom = await zoomOf(level.send, frameId);
  let box = boundsOf(quads.map((quad) => quad.map((value) => value * zoom)));
  for (let { send, owner } = level; box && owner; { send, owner } = owner.level) {
    const { clientWidth, clientHeight } = await viewportOf(send);
    const content = await contentOf(owner.level.send, owner);
    const { x, y, width, height } = box;
    const corners = [
      [x, y],
      [x + width, y],
      [x + width, y + height],
      [x, y + height],
    ] as const;
    box = boundsOf([
      corners.flatMap(([left, top]) => {
        const corner = fromQuad(content, { x: left / clientWidth, y: top / clientHeight });
        return [corner.x, corner.y];
      }),
    ]);
  }
  return box;
}

const viewportOf = async (send: SendCommand) => (await send("Page.getLayoutMetrics")).cssLayoutViewport;

/** Returns the box inside the border and padding of a frame's element. */
async function contentOf(send: SendCommand, { backendNodeId, frameId }: NodeRef): Promise<Quad> {
  const { model } = await send("DOM.getBoxModel", { backendNodeId });
  const zoom = await zoomOf(send, frameId);
  return model.content.map((value) => value * zoom);
}

/** Returns how much the CSS `zoom` of frames' elements enlarges a frame in its session. DevTools' boxes lack it. */
async function zoomOf(send: SendCommand, frameId: string): Promise<number> {
  const owner = await ownerOf({ send, owner: undefined }, frameId);
  if (!owner) return 1;
  const call: Call = { fn: "readZoom", returnByValue: true };
  const zoom = await callOn(send, owner, call, ({ value }) => z.number().positive().catch(1).parse(value));
  return zoom * (await zoomOf(send, owner.frameId));
}

const topOf = (level: Level): Level => (level.owner ? topOf(level.owner.level) : level);
