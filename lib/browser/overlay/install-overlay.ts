import type { CDPSession } from "playwright";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { GatedOverlay, OverlayGate } from "./overlay-gate.ts";
import { overlayScript } from "./overlay-script.ts";
import { parseReport } from "./parse-report.ts";

/** Whether a submission was stored. If not, the overlay shows `reason`, a sentence without its full stop. */
export type AnnotationVerdict = { isStored: true } | { isStored: false; reason: string };

/**
 * Stores a submission of the overlay. `body` is a request body for the annotation webhook, as JSON text that was not
 * validated.
 */
export type SubmitAnnotation = (body: string) => Promise<AnnotationVerdict>;

/** Controls the overlay of one page from the service's process. */
export type Overlay = GatedOverlay & {
  /** Returns the CSS cursor keyword that the page shows at a point; `default` if the page does not answer. */
  readCursor: (x: number, y: number) => Promise<string>;
};

type OverlayOptions = {
  /** The guard of the browser's listeners. */
  guard: ListenerGuard;
  mainFrameId: () => string;
  gate: Pick<OverlayGate, "isShown">;
  onAnnotation: SubmitAnnotation;
};

/** The fields of DevTools' events that are read here. */
type CreatedContext = { id: number; name: string; auxData?: { frameId?: unknown } };
type BindingCall = { name: string; payload: string; executionContextId: number };

const CURSOR = /^[a-z][a-z-]{1,20}$/;
const CURSOR_MS_MAX = 500;
/** Chromium allows 1,000 frames in a page. The overlay's world of the main frame is created first. */
const WORLDS_MAX = 1_000;

/**
 * Adds the annotation overlay to the current document of a page and to every later one. The overlay runs in an isolated
 * JavaScript world. It submits through a DevTools binding, because the content security policy of a page could block
 * requests of the overlay. Calls of the binding from other worlds are ignored, because a script of the agent can add a
 * binding of the same name to the page's own world.
 */
export async function installOverlay(
  cdp: CDPSession,
  { guard, mainFrameId, gate, onAnnotation }: OverlayOptions,
): Promise<Overlay> {
  /** Frame ids of the overlay's JavaScript worlds, by execution context id. */
  const worlds = new Map<number, unknown>();
  /** Ids of the execution contexts in which the overlay has started. It starts only in the main frame of a page. */
  const running = new Set<number>();
  /** Ids of the execution contexts whose submission is being stored. Each has one at a time. */
  const submitting = new Set<number>();
  const evaluate = (contextId: number, call: string) =>
    cdp.send("Runtime.evaluate", { contextId, expression: `globalThis.${OVERLAY_HANDLE}?.${call}` });

  const onCreated = (context: CreatedContext) => {
    if (context.name === OVERLAY_WORLD && worlds.size < WORLDS_MAX)
      worlds.set(context.id, context.auxData?.frameId);
  };
  const onDestroyed = (contextId: number) => {
    worlds.delete(contextId);
    running.delete(contextId);
  };
  const onCleared = () => {
    worlds.clear();
    running.clear();
  };
  const onCalled = ({ name, payload, executionContextId: contextId }: BindingCall) => {
    if (name !== OVERLAY_BINDING || !worlds.has(contextId)) return;
    const report = parseReport(payload);
    if (report?.kind === "ready" && !running.has(contextId)) return start(contextId);
    if (report?.kind === "submit" && !submitting.has(contextId)) return submit(contextId, report.body);
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
  cdp.on("Runtime.bindingCalled", guard(onCalled));

  // Errors of `evaluate` are ignored, because there is nothing to show if the page has navigated.
  async function start(contextId: number): Promise<void> {
    running.add(contextId);
    if (gate.isShown()) await evaluate(contextId, "show(true)").catch(() => {});
  }
  async function submit(contextId: number, body: string): Promise<void> {
    submitting.add(contextId);
    const verdict = await onAnnotation(body).catch(
      (): AnnotationVerdict => ({ isStored: false, reason: "something went wrong on our side" }),
    );
    submitting.delete(contextId);
    const refusal = verdict.isStored ? "undefined" : JSON.stringify(verdict.reason);
    await evaluate(contextId, `onAnswer(${refusal})`).catch(() => {});
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

/** Name of the overlay's isolated JavaScript world. The world shares only the document with the page's own scripts. */
export const OVERLAY_WORLD = "agent-session-overlay";

/**
 * Name of the function with which the overlay reports to the service. The service adds this function only to the
 * overlay's world.
 */
export const OVERLAY_BINDING = "agentSessionAnnotate";

/** Attribute of the overlay's host element. Queries of the service exclude the element that has this attribute. */
export const OVERLAY_ATTRIBUTE = "data-agent-session-overlay";

/** Name of a global variable in the overlay's world. The service calls the overlay through this variable. */
const OVERLAY_HANDLE = "agentSessionOverlay";
