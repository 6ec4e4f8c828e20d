import type { CDPSession } from "playwright";
import { overlayScript } from "./overlay-script.ts";
import { OVERLAY_ATTRIBUTE, OVERLAY_BINDING, OVERLAY_HANDLE, OVERLAY_WORLD } from "./overlay-world.ts";

const PAYLOAD_CHARACTERS_MAX = 256 * 1024;

/** The overlay of a page, seen from the host. */
export type Overlay = {
  /** The CSS cursor keyword that the page shows at a point; `default` where the page does not answer. */
  readCursor: (x: number, y: number) => Promise<string>;
};

type OverlayOptions = {
  mainFrameId: () => string;
  onAnnotation: (submission: unknown) => Promise<void>;
};

const CURSOR = /^[a-z][a-z-]{1,20}$/;
const CURSOR_MS_MAX = 500;

/**
 * Puts the annotation overlay into every document that a page loads, and into the one it shows. What a person
 * submits goes through a DevTools binding (a page's content policy would stop a request of the overlay itself);
 * `onAnnotation` is given it unchecked, and the overlay is told whether it was stored. Calls from any other world than
 * the overlay's count for nothing.
 */
export async function installOverlay(
  cdp: CDPSession,
  { mainFrameId, onAnnotation }: OverlayOptions,
): Promise<Overlay> {
  // A script of the agent may bind the same name in the page's own world, where anybody could call it.
  const overlayContexts = new Map<number, unknown>();
  cdp.on("Runtime.executionContextCreated", ({ context }) => {
    if (context.name === OVERLAY_WORLD) overlayContexts.set(context.id, context.auxData?.frameId);
  });
  cdp.on("Runtime.executionContextDestroyed", ({ executionContextId }) =>
    overlayContexts.delete(executionContextId),
  );
  cdp.on("Runtime.executionContextsCleared", () => overlayContexts.clear());
  cdp.on("Runtime.bindingCalled", ({ name, payload, executionContextId }) => {
    if (name !== OVERLAY_BINDING || !overlayContexts.has(executionContextId)) return;
    if (payload.length > PAYLOAD_CHARACTERS_MAX) return;
    const answer = (isStored: boolean) =>
      cdp.send("Runtime.evaluate", {
        contextId: executionContextId,
        expression: `globalThis.${OVERLAY_HANDLE}?.onAnswer(${isStored})`,
      });
    void receive(payload, onAnnotation)
      .then(answer)
      .catch(() => {});
  });
  await cdp.send("Runtime.enable");
  await cdp.send("Runtime.addBinding", { name: OVERLAY_BINDING, executionContextName: OVERLAY_WORLD });
  const settings = { attribute: OVERLAY_ATTRIBUTE, binding: OVERLAY_BINDING, handle: OVERLAY_HANDLE };
  await cdp.send("Page.addScriptToEvaluateOnNewDocument", {
    source: `(${overlayScript})(${JSON.stringify(settings)})`,
    worldName: OVERLAY_WORLD,
    runImmediately: true,
  });

  return {
    async readCursor(x, y) {
      const [contextId] = [...overlayContexts].find(([, frameId]) => frameId === mainFrameId()) ?? [];
      if (contextId === undefined) return "default";
      const expression = `globalThis.${OVERLAY_HANDLE}?.cursorAt(${Number(x)}, ${Number(y)})`;
      const { result } = await cdp
        .send("Runtime.evaluate", { contextId, expression, returnByValue: true, timeout: CURSOR_MS_MAX })
        .catch(() => ({ result: { value: undefined } }));
      return typeof result.value === "string" && CURSOR.test(result.value) ? result.value : "default";
    },
  };
}

/** @returns whether the submission was stored. */
async function receive(
  payload: string,
  onAnnotation: (submission: unknown) => Promise<void>,
): Promise<boolean> {
  try {
    await onAnnotation(JSON.parse(payload));
    return true;
  } catch {
    return false;
  }
}
