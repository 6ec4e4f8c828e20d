import type { CDPSession } from "playwright";
import type { GatedOverlay, OverlayGate } from "./overlay-gate.ts";
import { type OverlayReport, overlayScript } from "./overlay-script.ts";

/** Whether a submission was stored; `reason` is a sentence without its full stop, which the overlay shows. */
export type AnnotationVerdict = { isStored: true } | { isStored: false; reason: string };

/** Stores a submission of the overlay: the webhook's body as JSON text, unchecked. */
export type SubmitAnnotation = (body: string) => Promise<AnnotationVerdict>;

/** The overlay of a page, seen from the host. */
export type Overlay = GatedOverlay & {
  /** The CSS cursor keyword that the page shows at a point; `default` if the page does not answer. */
  readCursor: (x: number, y: number) => Promise<string>;
};

type OverlayOptions = {
  mainFrameId: () => string;
  gate: Pick<OverlayGate, "isShown">;
  onAnnotation: SubmitAnnotation;
};

const CURSOR = /^[a-z][a-z-]{1,20}$/;
const CURSOR_MS_MAX = 500;

/**
 * Adds the annotation overlay to the document that a page shows now and to every later one. The overlay submits through a
 * DevTools binding, because a page's content security policy could block its requests. Binding calls from worlds other
 * than the overlay's are ignored, because a script of the agent can bind the same name in the page's own world.
 */
export async function installOverlay(
  cdp: CDPSession,
  { mainFrameId, gate, onAnnotation }: OverlayOptions,
): Promise<Overlay> {
  /** Frame ids of the overlay's worlds, by execution context id. */
  const worlds = new Map<number, unknown>();
  /** Execution contexts in which an overlay runs; only main frames have one. */
  const running = new Set<number>();
  const evaluate = (contextId: number, call: string) =>
    cdp.send("Runtime.evaluate", { contextId, expression: `globalThis.${OVERLAY_HANDLE}?.${call}` });

  cdp.on("Runtime.executionContextCreated", ({ context }) => {
    if (context.name === OVERLAY_WORLD) worlds.set(context.id, context.auxData?.frameId);
  });
  cdp.on("Runtime.executionContextDestroyed", ({ executionContextId }) => {
    worlds.delete(executionContextId);
    running.delete(executionContextId);
  });
  cdp.on("Runtime.executionContextsCleared", () => {
    worlds.clear();
    running.clear();
  });
  cdp.on("Runtime.bindingCalled", ({ name, payload, executionContextId: contextId }) => {
    if (name !== OVERLAY_BINDING || !worlds.has(contextId)) return;
    const report = JSON.parse(payload) as OverlayReport;
    const answered =
      report.kind === "ready" ? start(contextId) : answer(contextId, onAnnotation(report.body));
    // The page may have navigated before the answer arrives.
    answered.catch(() => {});
  });

  async function start(contextId: number): Promise<void> {
    running.add(contextId);
    if (gate.isShown()) await evaluate(contextId, "show(true)");
  }
  async function answer(contextId: number, submitted: Promise<AnnotationVerdict>): Promise<void> {
    const verdict = await submitted.catch(
      (): AnnotationVerdict => ({ isStored: false, reason: "something went wrong on our side" }),
    );
    const refusal = verdict.isStored ? "undefined" : JSON.stringify(verdict.reason);
    await evaluate(contextId, `onAnswer(${refusal})`);
  }

  await cdp.send("Runtime.enable");
  await cdp.send("Runtime.addBinding", { name: OVERLAY_BINDING, executionContextName: OVERLAY_WORLD });
  const settings = { attribute: OVERLAY_ATTRIBUTE, binding: OVERLAY_BINDING, handle: OVERLAY_HANDLE };
  await cdp.send("Page.addScriptToEvaluateOnNewDocument", {
    source: `(${overlayScript})(${JSON.stringify(settings)})`,
    worldName: OVERLAY_WORLD,
    runImmediately: true,
  });

  return {
    async setShown(isShown) {
      await Promise.all([...running].map((contextId) => evaluate(contextId, `show(${isShown})`)));
    },
    async readCursor(x, y) {
      const [contextId] = [...worlds].find(([, frameId]) => frameId === mainFrameId()) ?? [];
      if (contextId === undefined) return "default";
      const expression = `globalThis.${OVERLAY_HANDLE}?.cursorAt(${Number(x)}, ${Number(y)})`;
      const { result } = await cdp
        .send("Runtime.evaluate", { contextId, expression, returnByValue: true, timeout: CURSOR_MS_MAX })
        .catch(() => ({ result: { value: undefined } }));
      return typeof result.value === "string" && CURSOR.test(result.value) ? result.value : "default";
    },
  };
}

/** Name of the isolated world in which the overlay runs. The world shares only the document with the page. */
export const OVERLAY_WORLD = "agent-session-overlay";

/** The function by which the overlay reports to the host; it exists in the overlay's world only. */
export const OVERLAY_BINDING = "agentSessionAnnotate";

/** The attribute of the overlay's host element. Page queries use it to exclude the overlay. */
export const OVERLAY_ATTRIBUTE = "data-agent-session-overlay";

/** The global variable of the overlay's world through which the host calls the overlay. */
const OVERLAY_HANDLE = "agentSessionOverlay";
