import { callInjected, callWithHandles } from "#lib/injected/call-injected.ts";
import type { KitFunctions } from "#lib/injected/tools/main.ts";
import type { PageFrame } from "./page-frame.ts";

type Name = keyof KitFunctions;
type ArgumentOf<Fn extends Name> =
  Parameters<KitFunctions[Fn]> extends [unknown, infer Argument, ...unknown[]] ? Argument : null;
type ResultOf<Fn extends Name> = ReturnType<KitFunctions[Fn]>;

/**
 * Calls a function of `lib/injected/tools` inside a frame, in an isolated world that the page's scripts cannot reach. The
 * function gets a `PageKit` and one argument.
 * @param timeoutMs time after which Chromium ends the function.
 * @throws InjectedError if the function throws. Error if the function takes too long or the frame is gone.
 */
export async function evaluateIn<Fn extends Name>(
  frame: PageFrame,
  fn: Fn,
  argument: ArgumentOf<Fn>,
  timeoutMs = 5_000,
): Promise<ResultOf<Fn>> {
  const counted = await callInjected(frame, "tools", "callWithKit", [frame.refs, fn, argument], timeoutMs);
  return keepCount(frame, counted);
}

/**
 * Like `evaluateIn`, but instead of an argument, the function gets the element with the given DevTools node id. There
 * is no timeout.
 * @throws Error also if the element is gone.
 */
export async function callWithNode<Fn extends Name>(
  frame: PageFrame,
  backendNodeId: number,
  fn: Fn,
): Promise<ResultOf<Fn>> {
  const { session, contextId: executionContextId } = frame;
  const { object } = await session.send("DOM.resolveNode", { backendNodeId, executionContextId });
  const args = [{ value: frame.refs }, { value: fn }, { objectId: String(object.objectId) }];
  const { value } = await callWithHandles(frame, "tools", "callWithKit", args, { returnByValue: true });
  // The cast is safe: the value is the result of `callWithKit`.
  return keepCount(frame, value as Counted);
}

/**
 * Finds the DevTools node id of a ref's element. Returns undefined if the element is gone or this frame never assigned
 * the ref.
 */
export async function findNodeOf(frame: PageFrame, ref: string): Promise<number | undefined> {
  const { objectId } = await callWithHandles(frame, "tools", "elementOf", [{ value: ref }]);
  if (!objectId) return undefined;
  const { node } = await frame.session.send("DOM.describeNode", { objectId });
  return node.backendNodeId;
}

type Counted = { value: unknown; next: number };

/** Stores the number of the next ref, because later documents of the frame continue from it. */
function keepCount<Result>({ refs }: PageFrame, { value, next }: Counted): Result {
  refs.next = Math.max(refs.next, next);
  // The cast is safe: the value is the result of the called function.
  return value as Result;
}
