import { randomUUID } from "node:crypto";
import type { FunctionName } from "#lib/injected/bundle.ts";
import { callWithHandles } from "#lib/injected/call-injected.ts";
import type { SendCommand } from "./frame-sessions.ts";

/** Name of the overlay's isolated JavaScript world. The world shares only the document with the page's own scripts. */
export const OVERLAY_WORLD = "agent-session-overlay";

/** A node in a frame, by DevTools' ids. */
export type NodeRef = { backendNodeId: number; frameId: string };

/** A function of the overlay's bundle, and its arguments after the node. */
export type Call = { fn: FunctionName<"overlay">; args?: unknown[]; returnByValue?: boolean };
type CallResult = { objectId?: string; value?: unknown };

/**
 * Calls a function with a node as its first argument, in the overlay's isolated world, where the page has replaced
 * nothing. Objects of this call are released after `read`; those of other calls at the same time stay.
 *
 * @param node without `backendNodeId`, the function has only the arguments of `call`.
 */
export async function callOn<Result>(
  send: SendCommand,
  { backendNodeId, frameId }: Pick<NodeRef, "frameId"> & Partial<NodeRef>,
  { fn, args = [], returnByValue = false }: Call,
  read: (result: CallResult) => Result | Promise<Result>,
): Promise<Result> {
  const objectGroup = `overlay ${randomUUID()}`;
  const world = await send("Page.createIsolatedWorld", { frameId, worldName: OVERLAY_WORLD });
  const { executionContextId } = world;
  const resolveNode = async (): Promise<{ objectId: string }[]> => {
    if (backendNodeId === undefined) return [];
    const { object } = await send("DOM.resolveNode", { backendNodeId, executionContextId, objectGroup });
    if (object.objectId === undefined) throw new Error("the element is gone");
    return [{ objectId: object.objectId }];
  };
  try {
    const values = [...(await resolveNode()), ...args.map((value) => ({ value }))];
    const own = { session: { send }, contextId: executionContextId };
    return await read(await callWithHandles(own, "overlay", fn, values, { returnByValue, objectGroup }));
  } finally {
    send("Runtime.releaseObjectGroup", { objectGroup }).catch(() => {});
  }
}
