import { z } from "zod";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type { ElementDescription, PickedElement } from "../overlay-model.ts";
import { type Call, callOn, type NodeRef } from "./call-on-node.ts";
import type { FrameSessions, SendCommand } from "./frame-sessions.ts";
import {
  boxOfPart,
  describeLocated,
  findAt,
  inDocument,
  isInside,
  type Level,
  locateElement,
  ownerOf,
  partOfFrame,
} from "./locate-element.ts";
import type { Point } from "./quads.ts";

/** What a person marks on the picture of a page, in CSS pixels of the page's viewport. Source: `wire.md`, Annotations. */
export type MarkedPart =
  | ({ kind: "element" } & Point)
  | ({ kind: "area" } & Box)
  | { kind: "text"; from: Point; to: Point };

/**
 * What the page has there: the fields of a note, without its comment, and its box in the viewport. `area` is the marked
 * part, in CSS pixels of the page; `boundingBox` is that of the element, which is the smallest one around the part.
 */
export type MarkedTarget = {
  page: PickedElement["page"];
  note: { type: MarkedPart["kind"]; quote?: string; area?: Box } & ElementDescription;
  box: Box;
};

/**
 * Finds what a person marks: the element at a point, the smallest element around an area, or the text between two points.
 * It works in any frame and shadow root, and the page notices nothing.
 *
 * @returns undefined if there is no element, or no text.
 * @throws Error if the page changes meanwhile.
 */
export async function locateTarget(
  page: SendCommand,
  frames: FrameSessions,
  part: MarkedPart,
): Promise<MarkedTarget | undefined> {
  if (part.kind === "element") {
    const found = await locateElement(page, frames, part);
    return found && { page: found.page, note: { type: "element", ...found.description }, box: found.at };
  }
  return part.kind === "area" ? locateArea(page, frames, part) : locateText(page, frames, part);
}

async function locateArea(
  page: SendCommand,
  frames: FrameSessions,
  { x, y, width, height }: Box,
): Promise<MarkedTarget | undefined> {
  const middle = { x: x + width / 2, y: y + height / 2 };
  const corners = [
    { x, y },
    { x: x + width, y: y + height },
  ];
  const hit = await findAt(page, frames, [middle, ...corners], true);
  if (!hit) return undefined;
  const { level } = hit;
  let at = hit.found;
  let [start, end] = await cornersIn(level, at, hit.points.slice(1));
  // Frames that share the session's process are not entered one by one, so an area may be larger than the frame.
  while (!isInside(start) || !isInside(end)) {
    const owner = await ownerOf({ send: level.send, owner: undefined }, at.frameId);
    if (!owner) break;
    at = owner;
    [start, end] = await cornersIn(level, at, hit.points.slice(1));
  }
  const call: Call = { fn: "elementAround", args: [start.x, start.y, end.x, end.y] };
  const element = await findElement(level, at, call);
  const located = element && (await describeLocated(level, element));
  if (!located) return undefined;
  const box = { x, y, width, height };
  const area = await inDocument(level, box);
  return { page: located.page, note: { type: "area", ...located.description, area }, box };
}

async function locateText(
  page: SendCommand,
  frames: FrameSessions,
  { from, to }: { from: Point; to: Point },
): Promise<MarkedTarget | undefined> {
  const hit = await findAt(page, frames, [from, to]);
  if (!hit) return undefined;
  const { level, found } = hit;
  const [start, end] = await cornersIn(level, found, hit.points);
  const args = [start.x, start.y, end.x, end.y];
  const element = await findElement(level, found, { fn: "selectedElement", args });
  const call: Call = { fn: "readSelection", args, returnByValue: true };
  const selection = await callOn(level.send, found, call, ({ value }) => selectionSchema.parse(value));
  const located = element && selection && (await describeLocated(level, element));
  if (!located) return undefined;
  const box = await boxOfPart(level, found.frameId, selection.part);
  const note = { type: "text", ...located.description, quote: selection.quote } as const;
  return { page: located.page, note: { ...note, area: await inDocument(level, box) }, box };
}

const number = z.number();
const selectionSchema = z
  .object({
    quote: z.string(),
    part: z.object({ x: number, y: number, width: number, height: number }),
  })
  .nullable();

/** Returns where two points of the session's viewport are in the frame of a node, in parts of the frame. */
async function cornersIn(
  { send }: Level,
  { frameId }: NodeRef,
  [start = { x: 0, y: 0 }, end = start]: readonly Point[],
): Promise<[Point, Point]> {
  return [await partOfFrame(send, frameId, start), await partOfFrame(send, frameId, end)];
}

/** Calls a function of the overlay that returns an element or null. */
function findElement({ send }: Level, at: NodeRef, call: Call): Promise<NodeRef | undefined> {
  return callOn(send, at, call, async ({ objectId }) => {
    if (objectId === undefined) return undefined;
    const { node } = await send("DOM.describeNode", { objectId });
    return { backendNodeId: node.backendNodeId, frameId: at.frameId };
  });
}
