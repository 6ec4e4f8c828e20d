import { z } from "zod";
import type { FunctionName, InjectedFunction } from "#lib/injected/bundle.ts";
import { callInjected, callWithHandles, type IsolatedWorld } from "#lib/injected/call-injected.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type { FrameSessions, SendCommand } from "../overlay/locate/frame-sessions.ts";
import { boxOf, type Level } from "../overlay/locate/locate-element.ts";
import { PICKER_TYPES } from "./stage-state.ts";

const text = z.string().max(300);
const controlSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("select"),
    label: text,
    options: z
      .array(
        z.object({ label: text, group: text.nullable(), isDisabled: z.boolean(), isSelected: z.boolean() }),
      )
      .max(1_000),
    omitted: z.number(),
  }),
  z.object({
    kind: z.literal("picker"),
    label: text,
    type: z.enum(PICKER_TYPES),
    value: text,
    min: text,
    max: text,
    step: text,
  }),
  z.object({
    kind: z.literal("suggestions"),
    label: text,
    options: z.array(z.object({ value: text, label: text })).max(50),
  }),
]);

/** A control that waits for a choice, with its place in the page's viewport. */
export type LocatedControl = {
  shown: z.output<typeof controlSchema> & { box: Box };
  /** @see countSteps */
  countSteps: (chosen: number) => Promise<number>;
  choose: (chosen: number) => Promise<boolean>;
  setValue: (value: string) => Promise<boolean>;
  /** Whether its list or picker is still open. */
  isWaiting: () => Promise<boolean>;
};

const WORLD = "agent-session-widgets";
/** How deep frames and closed shadow roots can be nested. */
const DEPTH_MAX = 16;
const CALL_MS_MAX = 2_000;

/** A place that is searched: the document of a frame, or a closed shadow root in it. */
type Place = { level: Level; frameId: string; world: IsolatedWorld; root: { objectId: string } };

/**
 * Finds the control of a page whose list, picker or suggestions wait for a person: the one with the focus, in any frame
 * and shadow root, or one that a script has opened in the same document. DevTools finds it from isolated worlds, so the
 * page sees nothing of it.
 * @throws Error if the page changes meanwhile.
 */
export async function findControl(
  page: SendCommand,
  mainFrameId: string,
  frames: FrameSessions,
): Promise<LocatedControl | undefined> {
  let place = await enterFrame({ send: page, owner: undefined }, mainFrameId);
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const { level, world, root } = place;
    const focused = await callWithHandles(world, "widgets", "focusedIn", [root], GROUPED);
    if (focused.objectId === undefined) return readOpened(place);
    const { node } = await level.send("DOM.describeNode", { objectId: focused.objectId });
    const closed = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === "closed");
    if (node.frameId !== undefined && FRAMES.has(node.nodeName)) {
      const own = await frames.open(node.frameId);
      const owner = { backendNodeId: node.backendNodeId, frameId: place.frameId, level };
      place = await enterFrame(own ? { send: own, owner } : level, node.frameId);
    } else if (closed) {
      const opened = await resolve(place, closed.backendNodeId);
      place = { ...place, root: opened };
    } else return (await read(place, node.backendNodeId, focused.objectId)) ?? readOpened(place);
  }
  return undefined;
}

const FRAMES = new Set(["IFRAME", "FRAME"]);
const OBJECT_GROUP = "agent-session-widgets";
const GROUPED = { objectGroup: OBJECT_GROUP };

async function enterFrame(level: Level, frameId: string): Promise<Place> {
  const { send } = level;
  const created = await send("Page.createIsolatedWorld", { frameId, worldName: WORLD });
  const world = { session: { send }, contextId: created.executionContextId };
  // Objects of earlier searches are not needed any more.
  await send("Runtime.releaseObjectGroup", { objectGroup: OBJECT_GROUP });
  const { result } = await send("Runtime.evaluate", {
    expression: "document",
    contextId: world.contextId,
    ...GROUPED,
  });
  return { level, frameId, world, root: { objectId: result.objectId ?? "" } };
}

async function resolve({ level, world }: Place, backendNodeId: number): Promise<{ objectId: string }> {
  const { object } = await level.send("DOM.resolveNode", {
    backendNodeId,
    executionContextId: world.contextId,
    ...GROUPED,
  });
  return { objectId: object.objectId ?? "" };
}

/** Reads a control that was opened without getting the focus. */
async function readOpened(place: Place): Promise<LocatedControl | undefined> {
  const { level, world, root } = place;
  const opened = await callWithHandles(world, "widgets", "openedIn", [root], GROUPED);
  if (opened.objectId === undefined) return undefined;
  const { node } = await level.send("DOM.describeNode", { objectId: opened.objectId });
  return read(place, node.backendNodeId, opened.objectId);
}

async function read(
  { level, frameId, world }: Place,
  backendNodeId: number,
  objectId: string,
): Promise<LocatedControl | undefined> {
  const described = await callWithHandles(world, "widgets", "describeControl", [{ objectId }], {
    returnByValue: true,
  });
  const { data } = controlSchema.safeParse(described.value);
  const box = data && (await boxOf(level, { backendNodeId, frameId }));
  if (!data || !box) return undefined;
  const { x, y, width, height } = box;
  const call = <Key extends FunctionName<"widgets">>(
    fn: Key,
    args: Parameters<InjectedFunction<"widgets", Key>>,
  ) => callInjected(world, "widgets", fn, args, CALL_MS_MAX);
  return {
    // Boxes of frames in other processes have rounding errors.
    shown: {
      ...data,
      box: { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) },
    },
    countSteps: async (chosen) =>
      z
        .number()
        .catch(-1)
        .parse(await call("countSteps", [chosen])),
    choose: async (chosen) => (await call("chooseOption", [chosen])) === true,
    setValue: async (value) => (await call("chooseValue", [value])) === true,
    isWaiting: async () => (await call("isWaiting", [])) === true,
  };
}
