import type { PageFrame } from "./page-frames.ts";
import { type PageKit, pageKitSource } from "./page-kit.ts";

/**
 * Runs a function inside a frame, in the service's own world, with the kit and one JSON argument; its result is JSON. It is
 * sent as source, so it must not use anything from outside its own body.
 * @param timeoutMs after which Chromium ends it. @throws Error with the function's own message.
 */
export async function evaluateIn<Argument, Result>(
  frame: PageFrame,
  fn: (kit: PageKit, argument: Argument) => Result,
  argument: Argument,
  timeoutMs = 5_000,
): Promise<Result> {
  const { result, exceptionDetails } = await frame.session.send("Runtime.evaluate", {
    expression: `(${fn})(${pageKitSource}, ${JSON.stringify(argument ?? null)})`,
    contextId: frame.contextId,
    returnByValue: true,
    timeout: timeoutMs,
  });
  if (exceptionDetails) throw new Error(readException(exceptionDetails));
  return result.value as Result;
}

/** Runs a function over elements given by DevTools' node ids; the result of one that is gone is undefined. */
export async function callWithNodes<Result>(
  frame: PageFrame,
  backendNodeIds: number[],
  fn: (kit: PageKit, elements: Element[]) => Result[],
): Promise<(Result | undefined)[]> {
  const { session, contextId: executionContextId } = frame;
  const handles = await Promise.all(
    backendNodeIds.map((backendNodeId) =>
      session.send("DOM.resolveNode", { backendNodeId, executionContextId }).then(
        ({ object }) => object.objectId,
        () => undefined,
      ),
    ),
  );
  const living = handles.flatMap((objectId) => (objectId ? [{ objectId }] : []));
  if (living.length === 0) return handles.map(() => undefined);
  const { result, exceptionDetails } = await session.send("Runtime.callFunctionOn", {
    functionDeclaration: `(...nodes) => (${fn})(${pageKitSource}, nodes)`,
    arguments: living,
    executionContextId,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(readException(exceptionDetails));
  const results = result.value as Result[];
  let next = 0;
  return handles.map((objectId) => (objectId ? results[next++] : undefined));
}

/**
 * DevTools' node ids of the elements that a function inside the page picks, at most `max` of them.
 * @returns also how many it picked in all.
 */
export async function pickNodes<Argument>(
  frame: PageFrame,
  fn: (kit: PageKit, argument: Argument) => Element[],
  argument: Argument,
  max: number,
): Promise<{ total: number; backendNodeIds: number[] }> {
  const { session, contextId } = frame;
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `(() => {
      const all = (${fn})(${pageKitSource}, ${JSON.stringify(argument ?? null)});
      return Object.assign(all.slice(0, ${max}), { total: all.length });
    })()`,
    contextId,
    timeout: 5_000,
  });
  if (exceptionDetails || !result.objectId)
    throw new Error(readException(exceptionDetails ?? { text: "gone" }));
  const { result: properties } = await session.send("Runtime.getProperties", {
    objectId: result.objectId,
    ownProperties: true,
  });
  const total = Number(properties.find(({ name }) => name === "total")?.value?.value ?? 0);
  const nodes = await Promise.all(
    properties.flatMap(({ name, value }) =>
      /^\d+$/.test(name) && value?.objectId
        ? [session.send("DOM.describeNode", { objectId: value.objectId })]
        : [],
    ),
  );
  return { total, backendNodeIds: nodes.map(({ node }) => node.backendNodeId) };
}

const readException = (details: { text: string; exception?: { description?: string } }) =>
  (details.exception?.description ?? details.text).split("\n")[0] ?? details.text;
