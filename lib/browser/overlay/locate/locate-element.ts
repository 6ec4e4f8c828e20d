import { z } from "zod";
import type { ElementInFrame } from "#lib/injected/overlay/describe-element.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { PickedElement } from "../overlay-model.ts";
import { type Call, callOn, type NodeRef } from "./call-on-node.ts";
import type { FrameSessions, SendCommand } from "./frame-sessions.ts";
import { boundsOf, boxInQuad, type Point, type Quad, toQuad } from "./quads.ts";

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
  const hit = await findAt(page, frames, [point]);
  if (!hit) return undefined;
  const { level, found, points } = hit;
  const part = await partOfFrame(level.send, found.frameId, points[0]);
  const refined = await refine(level.send, found, part);
  if (!refined) return undefined;
  const element = { backendNodeId: refined.backendNodeId, frameId: found.frameId };
  const located = await describeLocated(level, element);
  const isRoot = refined.nodeName === "HTML" && located?.description.frame === undefined;
  return isRoot ? undefined : located;
}

/** Points of a session's viewport. The first one decides which element is found. */
type Points = readonly [Point, ...Point[]];

/** A node that was found at a point: the session that has it, and where the points are in the session's viewport. */
type Hit = { level: Level; found: NodeRef; points: Points };

/**
 * Finds the node that a page shows at the first point.
 *
 * @param isWhole whether all points must be inside a frame for its content to be found. By default only the first.
 */
export async function findAt(
  page: SendCommand,
  frames: FrameSessions,
  points: Points,
  isWhole = false,
): Promise<Hit | undefined> {
  let level: Level = { send: page, owner: undefined };
  let at = points;
  let found = await hitTest(page, at[0]);
  for (let depth = 0; found && depth < DEPTH_MAX; depth += 1) {
    const { node } = await level.send("DOM.describeNode", { backendNodeId: found.backendNodeId });
    const inner = OWNERS.has(node.nodeName) && node.frameId ? await frames.open(node.frameId) : undefined;
    if (!inner) break;
    const content = await contentOf(level.send, found);
    const parts = mapPoints(at, (point) => toQuad(content, point));
    // The point is on the border of the frame.
    if (!(isWhole ? parts : [parts[0]]).every(isInside)) break;
    const size = await viewportOf(inner);
    level = { send: inner, owner: { ...found, level } };
    at = mapPoints(parts, ({ x, y }) => ({ x: x * size.clientWidth, y: y * size.clientHeight }));
    found = await hitTest(inner, at[0]);
  }
  return found && { level, found, points: at };
}

/** Whether a point, in parts of a frame, is inside the frame. */
export const isInside = ({ x, y }: Point): boolean => x >= 0 && y >= 0 && x < 1 && y < 1;

const mapPoints = ([first, ...others]: Points, map: (point: Point) => Point): Points => [
  map(first),
  ...others.map(map),
];

/** Describes an element of a session. Undefined if it is not rendered. */
export async function describeLocated(level: Level, element: NodeRef): Promise<LocatedElement | undefined> {
  const path = await framesOf(level, element.frameId);
  const own = await describeIn(level.send, element);
  const at = await boxOf(level, element);
  if (!at) return undefined;
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
      boundingBox: await inDocument(level, at),
    },
    follow: () => boxOf(level, element).catch(() => undefined),
  };
}

/** Converts a box of the page's viewport to whole CSS pixels of the page. */
export async function inDocument(level: Level, { x, y, width, height }: Box): Promise<Box> {
  const { pageX, pageY } = await viewportOf(topOf(level).send);
  return {
    x: Math.round(x + pageX),
    y: Math.round(y + pageY),
    width: Math.round(width),
    height: Math.round(height),
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
export async function ownerOf(level: Level, frameId: string): Promise<Owner | undefined> {
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
export async function partOfFrame(send: SendCommand, frameId: string, { x, y }: Point): Promise<Point> {
  const owner = await ownerOf({ send, owner: undefined }, frameId);
  if (owner) return toQuad(await contentOf(send, owner), { x, y });
  const { clientWidth, clientHeight } = await viewportOf(send);
  return { x: x / clientWidth, y: y / clientHeight };
}

/** Returns the box around an element in the page's viewport; undefined if the element is not rendered. */
export async function boxOf(level: Level, { backendNodeId, frameId }: NodeRef): Promise<Box | undefined> {
  const { quads } = await level.send("DOM.getContentQuads", { backendNodeId });
  const zoom = await zoomOf(level.send, frameId);
  const box = boundsOf(quads.map((quad) => quad.map((value) => value * zoom)));
  return box && toPage(level, box);
}

/** Converts a box of one of the session's frames, in parts of the frame, to the page's viewport. */
export async function boxOfPart(level: Level, frameId: string, { x, y, width, height }: Box): Promise<Box> {
  const owner = await ownerOf({ send: level.send, owner: undefined }, frameId);
  const { clientWidth, clientHeight } = await viewportOf(level.send);
  const whole = [0, 0, clientWidth, 0, clientWidth, clientHeight, 0, clientHeight];
  return toPage(
    level,
    boxInQuad(owner ? await contentOf(level.send, owner) : whole, { x, y, width, height }),
  );
}

/** Converts a box of a session's viewport to the page's viewport. */
async function toPage(from: Level, inner: Box): Promise<Box> {
  let box = inner;
  for (let { send, owner } = from; owner; { send, owner } = owner.level) {
    const { clientWidth, clientHeight } = await viewportOf(send);
    box = boxInQuad(await contentOf(owner.level.send, owner), {
      x: box.x / clientWidth,
      y: box.y / clientHeight,
      width: box.width / clientWidth,
      height: box.height / clientHeight,
    });
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
