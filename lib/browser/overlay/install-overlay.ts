import type { CDPSession } from "playwright";
import { startSource } from "#lib/injected/bundle.ts";
import { callInjected } from "#lib/injected/call-injected.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserInput } from "../browser-service.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { OVERLAY_WORLD } from "./locate/call-on-node.ts";
import { type ElementAnchor, findElements, type SoughtElements } from "./locate/find-elements.ts";
import { createFrameSessions } from "./locate/frame-sessions.ts";
import { locateTarget, type MarkedPart, type MarkedTarget } from "./locate/locate-target.ts";
import {
  createOverlayController,
  type OverlayController,
  type SubmitAnnotation,
} from "./overlay-controller.ts";
import type { GatedOverlay, OverlayGate } from "./overlay-gate.ts";

/** Controls the overlay of one page from the service's process. */
export type Overlay = GatedOverlay & {
  /** Returns the CSS cursor keyword that people see at a point; `default` if the page does not answer. */
  readCursor: (x: number, y: number) => Promise<string>;
  /** Returns the name of the field of the page that has the focus. Null if none has, or the page does not answer. */
  readField: () => Promise<string | null>;
  /**
   * Looks for elements on the page, when a look in progress has ended. Undefined if the page does not answer, or if
   * another call that waited began first.
   */
  find: (anchors: readonly ElementAnchor[]) => Promise<SoughtElements | undefined>;
  /**
   * Finds what a person marks on the picture of the page. Undefined if there is nothing, if the page does not answer, or
   * while {@link MARKING_MAX} other calls are in progress.
   */
  locate: (part: MarkedPart) => Promise<MarkedTarget | undefined>;
  /** Gives an input of a person to the overlay if it is for the overlay, and otherwise to the page with `pass`. */
  input: (input: BrowserInput, pass: (input: BrowserInput) => Promise<void>) => Promise<void>;
  /** Whether a comment is being written. The comment gets all keys and texts then. */
  isWriting: () => boolean;
  /** Ends the overlay of a page that was closed. */
  end: () => void;
};

type OverlayOptions = {
  /** The guard of the browser's listeners. */
  guard: ListenerGuard;
  mainFrameId: () => string;
  gate: Pick<OverlayGate, "isShown" | "isHiddenByScript">;
  openDevtools: Devtools["open"];
  onAnnotation: SubmitAnnotation;
};

/** The fields of DevTools' events that are read here. */
type CreatedContext = { id: number; name: string; auxData?: { frameId?: unknown } };

const CURSOR = /^[a-z][a-z-]{1,20}$/;
const CURSOR_MS_MAX = 500;
/** How long a page that is busy may take to name a field. */
const FIELD_MS_MAX = 5_000;
/** How long a page may take to find elements. */
const FIND_MS_MAX = 5_000;
/** For how long elements are looked for by their selectors. */
const SELECT_MS_MAX = 2_000;
/** How many calls may look at once for what people mark on a page. */
const MARKING_MAX = 4;
/** Chromium allows 1,000 frames in a page. The overlay's world of the main frame is created first. */
const WORLDS_MAX = 1_000;

/**
 * Adds the annotation overlay to the current document of a page and to every later one. The page has only its picture,
 * drawn by a script in an isolated JavaScript world. State and input are in the service: input that is for the overlay
 * is not sent to the page. See decision 068.
 */
export async function installOverlay(cdp: CDPSession, options: OverlayOptions): Promise<Overlay> {
  const { guard, mainFrameId, gate } = options;
  /** Frame ids of the overlay's JavaScript worlds, by execution context id. */
  const worlds = new Map<number, unknown>();
  /** The overlay of the document that the page shows. */
  let controller: OverlayController | undefined;
  /** The look for elements that is in progress. There is only one at a time. */
  let looking: Promise<unknown> | undefined;
  let marking = 0;

  const findWorld = () => [...worlds].findLast(([, frameId]) => frameId === mainFrameId())?.[0];
  /** Begins with an empty overlay if the page shows another document. */
  function followDocument(): void {
    const contextId = findWorld();
    if (contextId === controller?.contextId) return;
    controller?.end();
    controller =
      contextId === undefined ? undefined : createOverlayController(cdp, { ...options, contextId });
    void controller?.draw();
  }
  const onCreated = ({ id, name, auxData }: CreatedContext) => {
    if (name !== OVERLAY_WORLD || worlds.size >= WORLDS_MAX) return;
    worlds.set(id, auxData?.frameId);
    followDocument();
  };
  const onDestroyed = (contextId: number) => {
    worlds.delete(contextId);
    followDocument();
  };
  const onCleared = () => {
    worlds.clear();
    followDocument();
  };
  cdp.on(
    "Runtime.executionContextCreated",
    guard(({ context }) => onCreated(context)),
  );
  cdp.on(
    "Runtime.executionContextDestroyed",
    guard(({ executionContextId }) => onDestroyed(executionContextId)),
  );
  cdp.on("Runtime.executionContextsCleared", guard(onCleared));
  cdp.on("Page.frameNavigated", guard(followDocument));
  cdp.on(
    "Page.frameResized",
    guard(() => controller?.draw()),
  );
  cdp.on(
    "DOM.topLayerElementsUpdated",
    guard(() => controller?.raise()),
  );

  await Promise.all([cdp.send("Runtime.enable"), cdp.send("DOM.enable")]);
  await cdp.send("Page.addScriptToEvaluateOnNewDocument", {
    source: startSource("overlay", "start", []),
    worldName: OVERLAY_WORLD,
    runImmediately: true,
  });

  return {
    async setShown(isShown) {
      await (isShown ? controller?.draw() : controller?.hide());
    },
    async readCursor(x, y) {
      const own = gate.isShown() ? controller?.cursorAt(x, y) : undefined;
      const contextId = findWorld();
      if (own !== undefined || contextId === undefined) return own ?? "default";
      const world = { session: cdp, contextId };
      const cursor = await callInjected(world, "overlay", "cursorAt", [x, y], CURSOR_MS_MAX).catch(() => "");
      return CURSOR.test(cursor) ? cursor : "default";
    },
    async readField() {
      const contextId = findWorld();
      if (contextId === undefined) return null;
      const world = { session: cdp, contextId };
      const name = callInjected(world, "overlay", "nameFocused", [], FIELD_MS_MAX);
      return createDeadline({ ms: FIELD_MS_MAX })
        .race(name, () => null)
        .catch(() => null);
    },
    async find(anchors) {
      const deadline = createDeadline({ ms: FIND_MS_MAX });
      // On a page that hangs, a look continues when its deadline is over.
      if (looking) await deadline.settles(looking);
      if (looking) return undefined;
      const frames = createFrameSessions(options.openDevtools);
      const selecting = createDeadline({ ms: SELECT_MS_MAX });
      const finding = findElements(cdp.send.bind(cdp), frames, anchors, selecting);
      looking = finding;
      const done = () => {
        looking = undefined;
      };
      finding.then(done, done);
      // The search fails if the page changes meanwhile.
      const sought = deadline.race(finding, () => undefined);
      return sought.catch(() => undefined).finally(frames.close);
    },
    async locate(part) {
      if (marking >= MARKING_MAX) return undefined;
      marking += 1;
      const frames = createFrameSessions(options.openDevtools);
      const locating = locateTarget(cdp.send.bind(cdp), frames, part).finally(() => {
        marking -= 1;
      });
      // The search fails if the page changes meanwhile.
      const located = createDeadline({ ms: FIND_MS_MAX }).race(locating, () => undefined);
      return located.catch(() => undefined).finally(frames.close);
    },
    isWriting: () => controller?.isWriting() ?? false,
    input: (input, pass) => (controller ? controller.input(input, pass) : pass(input)),
    end() {
      controller?.end();
      controller = undefined;
      worlds.clear();
    },
  };
}
