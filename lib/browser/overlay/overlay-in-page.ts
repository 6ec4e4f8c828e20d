import type { CDPSession } from "playwright";
import { z } from "zod";
import type { FunctionName, InjectedFunction } from "#lib/injected/bundle.ts";
import { callInjected, InjectedError } from "#lib/injected/call-injected.ts";
import { OVERLAY_PARTS, type PlacedPart } from "#lib/injected/overlay/overlay-state.ts";
import type { OverlayModel } from "./overlay-model.ts";

/** The overlay in one document of a page: what it shows, and where its parts were drawn. */
type OverlayInPage = {
  contextId: number;
  /** Where the parts were drawn last. */
  parts: () => readonly PlacedPart[];
  /** Whether the overlay is in the document. */
  isDrawn: () => boolean;
  /** Draws the model's state, and adds the overlay to the document. Calls meanwhile cause one further drawing. */
  draw: () => Promise<void>;
  /** The drawing in progress. Never rejects. */
  drawing: () => Promise<void> | undefined;
  /** Removes the overlay from the document. */
  hide: () => Promise<void>;
  /** Puts the overlay above what the page has put into its top layer. */
  raise: () => Promise<void>;
  /** Scrolls the list of comments. */
  scrollList: (deltaY: number) => Promise<void>;
  positionAt: (x: number, y: number) => Promise<number>;
};

const PARTS_MAX = 200;
const placedParts = z
  .array(
    z.object({
      part: z.enum(OVERLAY_PARTS),
      index: z.number(),
      x: z.number(),
      y: z.number(),
      width: z.number(),
      height: z.number(),
    }),
  )
  .max(PARTS_MAX)
  .catch([]);

/**
 * Creates the {@link OverlayInPage} of the document with this execution context of the overlay's world.
 * @param isAllowed whether the overlay may be in the page now.
 */
export function createOverlayInPage(
  cdp: CDPSession,
  contextId: number,
  model: OverlayModel,
  isAllowed: () => boolean,
): OverlayInPage {
  let parts: PlacedPart[] = [];
  let isDrawn = false;
  let drawing: Promise<void> | undefined;
  let isStale = false;
  let isRaising = false;

  async function call<Method extends FunctionName<"overlay">>(
    method: Method,
    ...args: Parameters<InjectedFunction<"overlay", Method>>
  ): Promise<unknown> {
    try {
      return await callInjected({ session: cdp, contextId }, "overlay", method, args);
    } catch (error) {
      // A page can be in a state in which nothing can be shown above it.
      if (error instanceof InjectedError) return undefined;
      throw error;
    }
  }
  // Errors are ignored, because there is nothing to show if the page has navigated.
  async function drawUntilCurrent(): Promise<void> {
    do {
      isStale = false;
      const drawn = placedParts.parse(await call("draw", model.read()));
      if (!isAllowed()) return;
      parts = drawn;
      isDrawn = true;
    } while (isStale);
  }

  function draw(): Promise<void> {
    if (!isAllowed()) return Promise.resolve();
    isStale = true;
    drawing ??= drawUntilCurrent()
      .catch(() => {})
      .finally(() => {
        drawing = undefined;
      });
    return drawing;
  }

  return {
    contextId,
    parts: () => parts,
    isDrawn: () => isDrawn,
    draw,
    drawing: () => drawing,
    async hide() {
      isDrawn = false;
      await call("hide");
    },
    async raise() {
      // What `raise` itself changes in the top layer is reported before it is answered.
      if (isRaising || !isAllowed()) return;
      isRaising = true;
      await call("raise").catch(() => {});
      isRaising = false;
    },
    async scrollList(deltaY) {
      await call("scrollList", deltaY).catch(() => {});
      await draw();
    },
    positionAt: async (x, y) =>
      z
        .number()
        .catch(0)
        .parse(await call("positionAt", x, y).catch(() => 0)),
  };
}
