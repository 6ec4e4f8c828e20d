import type { CDPSession } from "playwright";
import { startSource } from "#lib/injected/bundle.ts";
import { callInjected } from "#lib/injected/call-injected.ts";
import type { ExaminedChange } from "#lib/injected/check/examined-change.ts";
import type { LookFunctions } from "#lib/injected/check/main.ts";
import type { PageFrame } from "#lib/tools/browser/page-kit/page-frame.ts";

/** The isolated world of a document, in which the check's functions run. The page's scripts cannot reach it. */
export type PageWorld = Pick<PageFrame, "session" | "contextId">;

/** The name of a function that runs inside the page. */
export type LookName = keyof LookFunctions;
/** The argument of the function with this name. Null if it has none. */
export type LookArgument<Name extends LookName> =
  Parameters<LookFunctions[Name]> extends [unknown, infer Argument, ...unknown[]] ? Argument : null;
/** The result of the function with this name. */
export type LookResult<Name extends LookName> = Awaited<ReturnType<LookFunctions[Name]>>;

const WORLD_NAME = "agent-session-check";

/** Starts the check's observer in every document that the page's main frame loads after this call. */
export async function addWatch(
  session: CDPSession,
  changes: ExaminedChange[],
  tagUrl: string,
): Promise<void> {
  const source = `if (self === top) ${startSource("check", "start", [changes, tagUrl])}`;
  await session.send("Page.addScriptToEvaluateOnNewDocument", { source, worldName: WORLD_NAME });
}

/**
 * Opens the check's isolated world of the current document. DevTools returns the existing world with this name, if
 * there is one.
 */
export async function openPageWorld(session: CDPSession): Promise<PageWorld> {
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: WORLD_NAME,
  });
  return { session, contextId };
}

/**
 * Calls a function of `lib/injected/check` in a world.
 * @throws Error with the function's own message, or an error for which {@link isDocumentLeft} is true.
 */
export async function evaluateInWorld<Name extends LookName>(
  world: PageWorld,
  name: Name,
  argument: LookArgument<Name>,
): Promise<LookResult<Name>> {
  const value = await callInjected(world, "check", "look", [name, argument]);
  // The cast is safe: the value is the result of the function with this name.
  return value as LookResult<Name>;
}

/** Whether an evaluation failed because the page navigated to another document. */
export const isDocumentLeft = (error: unknown): boolean =>
  /context was destroyed|cannot find context|navigated|no frame for given id|promise was collected|inspected target/i.test(
    String(error),
  );
