import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import type { FunctionName, InjectedFunction } from "#lib/injected/bundle.ts";
import { callInjected } from "#lib/injected/call-injected.ts";

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

type ToolFunction = Exclude<
  FunctionName<"tools">,
  "callWithKit" | "elementOf" | "createPageKit" | "foundCustomElements"
>;

/**
 * Calls a function in a page's main frame, in the tools' isolated world, without looking at other frames.
 * @throws Error if the page is gone.
 */
export async function callInMainFrame<Name extends ToolFunction>(
  page: Page,
  name: Name,
  args: Parameters<InjectedFunction<"tools", Name>>,
): Promise<Awaited<ReturnType<InjectedFunction<"tools", Name>>>> {
  const session = await sessionOf(page.context(), page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const contextId = await openWorld(session, frameTree.frame.id);
  return callInjected({ session, contextId }, "tools", name, args);
}
