import type { WorldElements } from "./make-elements.ts";
import type { PageFrame } from "./page-frames.ts";

const CLICKS = new Set([
  "click",
  "mousedown",
  "mouseup",
  "pointerdown",
  "pointerup",
  "touchstart",
  "dblclick",
]);
const DROPS = new Set(["drop", "dragover"]);
/** Elements that one call takes up; a page with more listeners has the others noted by later calls. */
const NEW_MAX = 400;

/**
 * Notes which elements of a frame have listeners of the page, so that the kit can tell what reacts to a click. Only
 * DevTools knows; the service's own world does not see the listeners of another.
 */
export async function noteListeners(frame: PageFrame): Promise<void> {
  const { session, contextId, listening } = frame;
  const { result } = await session.send("Runtime.evaluate", { expression: "document", contextId });
  if (!result.objectId) return;
  const { listeners } = await session.send("DOMDebugger.getEventListeners", {
    objectId: result.objectId,
    depth: -1,
    pierce: true,
  });
  const found = new Map<number, "click" | "drop">();
  for (const { type, backendNodeId } of listeners) {
    const kind = CLICKS.has(type) ? "click" : DROPS.has(type) ? "drop" : undefined;
    if (kind && backendNodeId !== undefined && !listening.has(backendNodeId) && found.size < NEW_MAX)
      found.set(backendNodeId, found.get(backendNodeId) === "click" ? "click" : kind);
  }
  if (found.size === 0) return;
  const resolved = await Promise.all(
    [...found].map(async ([backendNodeId, kind]) => {
      listening.add(backendNodeId);
      // Expected: nodes of frames inside, and nodes that have gone meanwhile.
      const answer = await session
        .send("DOM.resolveNode", { backendNodeId, executionContextId: contextId })
        .catch(() => undefined);
      return answer?.object.objectId ? [{ objectId: answer.object.objectId }, { value: kind }] : [];
    }),
  );
  await session.send("Runtime.callFunctionOn", {
    functionDeclaration: String(remember),
    arguments: resolved.flat(),
    executionContextId: contextId,
  });
}

/** Runs inside the page, sent as source. */
function remember(...nodesAndKinds: unknown[]): void {
  const world = globalThis as { agentSessionElements?: WorldElements };
  world.agentSessionElements ??= { refOf: new WeakMap(), byRef: new Map(), listening: new WeakMap() };
  for (let index = 0; index < nodesAndKinds.length; index += 2) {
    const node = nodesAndKinds[index];
    if (node instanceof Element)
      world.agentSessionElements.listening.set(node, nodesAndKinds[index + 1] as "click" | "drop");
  }
}
