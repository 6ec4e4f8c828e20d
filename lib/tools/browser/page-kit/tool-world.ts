import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import { type Dom, makeDom } from "#lib/dom/make-dom.ts";

const WORLD_NAME = "agent-session-tools";

const sessionsOf = new WeakMap<Page | Frame, Promise<CDPSession>>();

/**
 * Returns the tools' DevTools session with a page, or with a frame that has its own process. Sessions are cached,
 * because each further session would create one more isolated world in the document.
 */
export function sessionOf(context: BrowserContext, target: Page | Frame): Promise<CDPSession> {
  const cached = sessionsOf.get(target);
  if (cached) return cached;
  const opened = context.newCDPSession(target);
  const evict = () => void (sessionsOf.get(target) === opened && sessionsOf.delete(target));
  sessionsOf.set(target, opened);
  opened.then((session) => session.once("close", evict), evict);
  return opened;
}

/**
 * Opens the tools' isolated world of a frame, which the page's scripts cannot reach. DevTools returns the existing world
 * if there is one.
 * @returns the DevTools id of the world.
 */
export async function openWorld(session: CDPSession, frameId: string): Promise<number> {
  const { executionContextId } = await session.send("Page.createIsolatedWorld", {
    frameId,
    worldName: WORLD_NAME,
  });
  return executionContextId;
}

/**
 * Runs a function in a page's main frame, in the tools' isolated world, without looking at other frames. The function is
 * sent as source, so it uses nothing from outside its own body. The argument and the result must be JSON values.
 * @throws Error if the page is gone.
 */
export async function evaluateInMainFrame<Argument, Result>(
  page: Page,
  fn: (dom: Dom, argument: Argument) => Result | Promise<Result>,
  argument: Argument,
): Promise<Result> {
  const session = await sessionOf(page.context(), page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { result } = await session.send("Runtime.evaluate", {
    expression: `(${fn})((${makeDom})(), ${JSON.stringify(argument)})`,
    contextId: await openWorld(session, frameTree.frame.id),
    awaitPromise: true,
    returnByValue: true,
  });
  // The cast is safe: the value is the function's result.
  return result.value as Result;
}
