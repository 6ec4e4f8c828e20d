import type { ElementTraits } from "#lib/injected/overlay/find-element.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import { type Call, callOn, type NodeRef } from "./call-on-node.ts";
import type { FrameSessions, SendCommand } from "./frame-sessions.ts";
import { boxOf, FRAME_ARROW, type Level } from "./locate-element.ts";

/** What an annotation remembers of its element. All fields but the selector may be missing. Source: `wire.md`, Annotations. */
export type ElementAnchor = {
  selector: string | null;
  shadowSelector: string | null;
  frame: string | null;
  traits: ElementTraits;
};

/**
 * An element that was looked for: found by one of its anchors, with its box in the viewport (null if it is not
 * rendered); gone; or unknown, because the page changed meanwhile or a frame did not answer.
 */
export type SoughtElement =
  | { state: "found"; by: "selector" | "role" | "text"; box: Box | null }
  | { state: "gone" | "unknown" };

/** The elements in the order of their anchors, and the address of the page. */
export type SoughtElements = { url: string; elements: SoughtElement[] };

/** Joins the selectors of elements in open shadow roots. */
const SHADOW_ARROW = " >> ";
/** How deep frames and shadow roots can be nested together. */
const PARTS_MAX = 64;

/** Looks for elements on a page by their anchors, in any frame and shadow root. */
export async function findElements(
  page: SendCommand,
  frames: FrameSessions,
  anchors: readonly ElementAnchor[],
): Promise<SoughtElements> {
  const { frameTree } = await page("Page.getFrameTree");
  const main = { level: { send: page, owner: undefined }, frameId: frameTree.frame.id };
  const elements: SoughtElement[] = [];
  for (const anchor of anchors)
    elements.push(await findElement(main, frames, anchor).catch(() => ({ state: "unknown" as const })));
  const { url, urlFragment = "" } = frameTree.frame;
  return { url: url + urlFragment, elements };
}

/** A frame, and the DevTools session that it belongs to. */
type Place = { level: Level; frameId: string };

async function findElement(
  main: Place,
  frames: FrameSessions,
  anchor: ElementAnchor,
): Promise<SoughtElement> {
  const place = anchor.frame === null ? main : await enter(main, frames, anchor.frame.split(FRAME_ARROW));
  if (!place) return { state: "gone" };
  const { level, frameId } = place;
  const { send } = level;
  const found = async (by: "selector" | "role" | "text", node: NodeRef): Promise<SoughtElement> => ({
    state: "found",
    by,
    box: (await boxOf(level, node).catch(() => undefined)) ?? null,
  });
  const selected = await select(send, frameId, anchor);
  if (selected) return found("selector", selected);
  for (const [by, fn] of [
    ["role", "findByRole"],
    ["text", "findByText"],
  ] as const) {
    const node = await findNode(send, { frameId }, { fn, args: [anchor.traits] });
    if (node) return found(by, { backendNodeId: node.backendNodeId, frameId });
  }
  return { state: "gone" };
}

async function select(
  send: SendCommand,
  frameId: string,
  { selector, shadowSelector, traits }: ElementAnchor,
): Promise<NodeRef | undefined> {
  if (selector === null) return undefined;
  const parts = [selector, ...(shadowSelector === null ? [] : [shadowSelector])].flatMap((part) =>
    part.split(SHADOW_ARROW),
  );
  const node = await descend(send, frameId, parts);
  if (!node) return undefined;
  const isCounted = parts.some((part) => part.includes(":nth-"));
  const call: Call = { fn: "hasTraits", args: [traits, isCounted], returnByValue: true };
  return (await callOn(send, node, call, ({ value }) => value === true)) ? node : undefined;
}

/** Enters the frames of a path, from the outermost. Undefined if one of them is not on the page. */
async function enter(main: Place, frames: FrameSessions, path: string[]): Promise<Place | undefined> {
  let place = main;
  for (const selectors of path.slice(0, PARTS_MAX)) {
    const { level, frameId } = place;
    const owner = await descend(level.send, frameId, selectors.split(SHADOW_ARROW));
    if (!owner) return undefined;
    const { node } = await level.send("DOM.describeNode", { backendNodeId: owner.backendNodeId });
    const innerId = node.frameId ?? node.contentDocument?.frameId;
    if (innerId === undefined) return undefined;
    const inner = node.contentDocument ? undefined : await frames.open(innerId);
    place = inner
      ? { level: { send: inner, owner: { ...owner, level } }, frameId: innerId }
      : { level, frameId: innerId };
  }
  return place;
}

/** Follows selectors from the document into shadow roots, also closed ones. */
async function descend(send: SendCommand, frameId: string, parts: string[]): Promise<NodeRef | undefined> {
  let found = await findNode(send, { frameId }, { fn: "queryDocument", args: [parts[0]] });
  for (const part of parts.slice(1, PARTS_MAX)) {
    const root = found?.shadowRoots?.[0];
    if (!root) return undefined;
    const at = { backendNodeId: root.backendNodeId, frameId };
    found = await findNode(send, at, { fn: "queryOne", args: [part] });
  }
  return found && { backendNodeId: found.backendNodeId, frameId };
}

/** Calls a function that returns an element or null, and describes the element. */
function findNode(send: SendCommand, node: Pick<NodeRef, "frameId"> & Partial<NodeRef>, call: Call) {
  return callOn(send, node, call, async ({ objectId }) => {
    if (objectId === undefined) return undefined;
    return (await send("DOM.describeNode", { objectId })).node;
  });
}
