import { z } from "zod";
import type { ElementTraits, FoundBy } from "#lib/injected/overlay/find-element.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type { Deadline } from "#lib/time/deadline.ts";
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
 * rendered); gone; or unknown, because the time was over, the page changed meanwhile or a frame did not answer.
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

/** How long a page may be kept busy with names and texts, in milliseconds, in all its frames together. */
const WORK_MS_MAX = 200;

/**
 * Looks for elements on a page by their anchors, in any frame and shadow root: first for all by their selectors, then
 * for the others of each frame together. Elements that were not looked for when the time is over are `unknown`.
 *
 * @param deadline limits how long elements are looked for by their selectors.
 */
export async function findElements(
  page: SendCommand,
  frames: FrameSessions,
  anchors: readonly ElementAnchor[],
  deadline: Deadline,
): Promise<SoughtElements> {
  const { frameTree } = await page("Page.getFrameTree");
  const main = { level: { send: page, owner: undefined }, frameId: frameTree.frame.id };
  const elements = anchors.map((): SoughtElement => ({ state: "unknown" }));
  const byFrame = new Map<string, { place: Place; wanted: Wanted[] }>();
  for (const [index, anchor] of anchors.entries()) {
    if (deadline.remainingMs() === 0) break;
    const sought = await findSelected(main, frames, anchor).catch(() => ({ state: "unknown" as const }));
    if (sought.state !== "unselected") {
      elements[index] = sought;
      continue;
    }
    const { place } = sought;
    const frame = byFrame.get(place.frameId) ?? { place, wanted: [] };
    byFrame.set(place.frameId, frame);
    frame.wanted.push({ index, traits: anchor.traits });
  }
  let workMs = WORK_MS_MAX;
  for (const { place, wanted } of byFrame.values()) {
    if (workMs <= 0) break;
    const sought = await findByTraits(place, wanted, workMs).catch(() => undefined);
    workMs -= sought?.tookMs ?? WORK_MS_MAX;
    for (const [at, { index }] of wanted.entries()) {
      const element = sought?.elements[at];
      if (element) elements[index] = element;
    }
  }
  const { url, urlFragment = "" } = frameTree.frame;
  return { url: url + urlFragment, elements };
}

/** A frame, and the DevTools session that it belongs to. */
type Place = { level: Level; frameId: string };

/** An element that no selector has found, by its index among the anchors. */
type Wanted = { index: number; traits: ElementTraits };

/** Looks for an element by its selectors. `unselected` has the frame in which to look for it by its other anchors. */
async function findSelected(
  main: Place,
  frames: FrameSessions,
  anchor: ElementAnchor,
): Promise<SoughtElement | { state: "unselected"; place: Place }> {
  const place = anchor.frame === null ? main : await enter(main, frames, anchor.frame.split(FRAME_ARROW));
  if (!place) return { state: "gone" };
  const selected = await select(place.level.send, place.frameId, anchor);
  return selected ? foundAt(place.level, "selector", selected) : { state: "unselected", place };
}

/** Looks for elements of a frame by role and name, and by text. */
async function findByTraits(
  { level, frameId }: Place,
  wanted: readonly Wanted[],
  budgetMs: number,
): Promise<{ elements: SoughtElement[]; tookMs: number }> {
  const { send } = level;
  const call: Call = { fn: "findByTraits", args: [wanted.map(({ traits }) => traits), budgetMs] };
  return callOn(send, { frameId }, call, async ({ objectId = "" }) => {
    const { result } = await send("Runtime.getProperties", { objectId, ownProperties: true });
    const values = result.filter(({ name }) => /^\d+$/.test(name)).map(({ value }) => value);
    const elements: SoughtElement[] = [];
    for (const at of wanted.keys()) {
      const by = foundBy.parse(values[2 * at]?.value);
      const handle = values[2 * at + 1]?.objectId;
      if (by === "gone" || by === "unknown" || handle === undefined) {
        elements.push({ state: by === "gone" ? "gone" : "unknown" });
        continue;
      }
      const { node } = await send("DOM.describeNode", { objectId: handle });
      elements.push(await foundAt(level, by, { backendNodeId: node.backendNodeId, frameId }));
    }
    return { elements, tookMs: z.number().parse(values.at(-1)?.value) };
  });
}

const foundBy: z.ZodType<FoundBy> = z.enum(["role", "text", "gone", "unknown"]);

const foundAt = async (
  level: Level,
  by: "selector" | "role" | "text",
  node: NodeRef,
): Promise<SoughtElement> => ({
  state: "found",
  by,
  box: (await boxOf(level, node).catch(() => undefined)) ?? null,
});

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
  if (!parts.every(isPlain)) return undefined;
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

/** Where a selector may have `:` and `,`: in escapes, in quoted texts, and in classes that count elements. */
const HARMLESS =
  /\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|:nth-(?:last-)?(?:child|of-type)\(\d+\)|:(?:first|last|only)-(?:child|of-type)/g;

/**
 * Whether a selector is of the kind that the overlay writes. Anyone can submit one, and one with `:has(…)` or a long list
 * could keep the page busy for seconds. Other selectors find nothing.
 */
const isPlain = (selector: string): boolean => !/[:,]/.test(selector.replace(HARMLESS, ""));
