import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageFrame } from "./page-frames.ts";
import { type PageKit, pageKitSource } from "./page-kit.ts";

/**
 * Runs a function inside a frame, in an isolated world that the page's scripts cannot reach. The function gets a
 * `PageKit` and one argument; the argument and the result must be JSON values. The function is sent as source, so it
 * must not use anything from outside its own body.
 * @param timeoutMs time after which Chromium ends the function.
 * @throws Error if the function throws, with the message of the thrown error. Also if the function takes too long or
 * the frame is gone.
 */
export async function evaluateIn<Argument, Result>(
  frame: PageFrame,
  fn: (kit: PageKit, argument: Argument) => Result,
  argument: Argument,
  timeoutMs = 5_000,
): Promise<Result> {
  const { result, exceptionDetails } = await frame.session.send("Runtime.evaluate", {
    expression: `(() => {
      ${setUp(frame)}
      return { value: (${fn})(kit, ${JSON.stringify(argument ?? null)}), next: counter.next };
    })()`,
    contextId: frame.contextId,
    returnByValue: true,
    timeout: timeoutMs,
  });
  if (exceptionDetails) throw new Error(readException(exceptionDetails));
  return keepCount(frame, result.value as Counted<Result>);
}

/**
 * Like `evaluateIn`, but instead of an argument, the function gets the element with the given DevTools node id. There
 * is no timeout.
 * @throws Error also if the element is gone.
 */
export async function callWithNode<Result>(
  frame: PageFrame,
  backendNodeId: number,
  fn: (kit: PageKit, element: PageElement) => Result,
): Promise<Result> {
  const { session, contextId: executionContextId } = frame;
  const { object } = await session.send("DOM.resolveNode", { backendNodeId, executionContextId });
  const { result, exceptionDetails } = await session.send("Runtime.callFunctionOn", {
    functionDeclaration: `(node) => {
      ${setUp(frame)}
      return { value: (${fn})(kit, node), next: counter.next };
    }`,
    arguments: [object],
    executionContextId,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(readException(exceptionDetails));
  return keepCount(frame, result.value as Counted<Result>);
}

/**
 * Finds the DevTools node id of a ref's element. Returns undefined if the element is gone or this frame never assigned
 * the ref.
 */
export async function findNodeOf(frame: PageFrame, ref: string): Promise<number | undefined> {
  const { session, contextId } = frame;
  const { result } = await session.send("Runtime.evaluate", {
    expression: `(() => { ${setUp(frame)} return kit.elementOf(${JSON.stringify(ref)}); })()`,
    contextId,
  });
  if (!result.objectId) return undefined;
  const { node } = await session.send("DOM.describeNode", { objectId: result.objectId });
  return node.backendNodeId;
}

type Counted<Result> = { value: Result; next: number };

/**
 * Returns the code that creates the ref counter and the kit. The isolated world stores the number of the next ref, so
 * that concurrent calls share that number. The service stores the number too, because later documents of the frame
 * continue from it. The key is a symbol, because the id of an element can be the name of a global variable.
 */
const setUp = ({ refs }: PageFrame) => `
  const key = Symbol.for("agent-session-counter");
  const counter = (globalThis[key] ??= { prefix: ${JSON.stringify(refs.prefix)}, next: 0 });
  counter.next = Math.max(counter.next, ${refs.next});
  const kit = ${pageKitSource("counter")};`;

function keepCount<Result>({ refs }: PageFrame, { value, next }: Counted<Result>): Result {
  refs.next = Math.max(refs.next, next);
  return value;
}

const readException = (details: { text: string; exception?: { description?: string } }) =>
  (details.exception?.description ?? details.text).split("\n")[0] ?? details.text;
