import type { CDPSession } from "playwright";
import { makeDom } from "#lib/dom/make-dom.ts";
import { installSource } from "#lib/injected/bundle.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { PageFrame } from "#lib/tools/browser/page-kit/page-frames.ts";
import type { ExaminedChange } from "../examined-changes.ts";
import { makeBuiltNodes } from "../inside/built-nodes.ts";
import { DANGEROUS_LINK } from "../inside/find-links.ts";
import { makeNodeMatcher } from "../inside/match-nodes.ts";
import { type PageWatch, watchPage } from "../inside/page-watch.ts";
import { makeEffectReader } from "../inside/read-effect.ts";
import { makeVerifier } from "../inside/verify-changes.ts";
import { fillForm } from "../operate/inside/fill-form.ts";
import { makeControlFinder } from "../operate/inside/find-controls.ts";
import { makeOperator } from "../operate/inside/operator.ts";
import { makeReactionRecorder } from "../operate/inside/record-reaction.ts";

/** The isolated world of a document, in which the check's functions run. The page's scripts cannot reach it. */
export type PageWorld = Pick<PageFrame, "session" | "contextId">;

/** A function whose source is sent to the page and runs there. Its argument and its result are JSON. */
export type InsideFunction<Argument, Result> = (
  watch: PageWatch,
  argument: Argument,
) => Result | Promise<Result>;

const WORLD_NAME = "agent-session-check";

/** Starts the check's observer in every document that the page's main frame loads after this call. */
export async function addWatch(
  session: CDPSession,
  changes: ExaminedChange[],
  tagUrl: string,
): Promise<void> {
  const source = `if (self === top) {
    const changes = ${JSON.stringify(changes)};
    const counter = { prefix: "", next: 1 };
    const dom = (${makeDom})();
    const { createPageKit } = ${installSource("tools")};
    const newKit = () => createPageKit(counter);
    const verifier = (${makeVerifier})(dom, changes, ${makeNodeMatcher}, ${makeBuiltNodes}, ${makeEffectReader}, ${beginningOf});
    const watch = (${watchPage})(dom, changes, ${JSON.stringify(tagUrl)}, newKit, verifier);
    const dangerous = ${JSON.stringify(DANGEROUS_LINK.source)};
    watch.operator = (${makeOperator})(watch, ${makeControlFinder}, ${makeReactionRecorder}, ${fillForm}, dangerous, ${beginningOf});
    globalThis.agentSessionWatch = watch;
  }`;
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
 * Runs a function in a world.
 * @throws Error with the function's own message, or an error for which {@link isDocumentLeft} is true.
 */
export async function evaluateInWorld<Argument, Result>(
  { session, contextId }: PageWorld,
  fn: InsideFunction<Argument, Result>,
  argument: Argument,
): Promise<Result> {
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `(${fn})(globalThis.agentSessionWatch, ${JSON.stringify(argument ?? null)})`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) {
    const { exception, text } = exceptionDetails;
    throw new Error((exception?.description ?? text).split("\n")[0]);
  }
  // The cast is safe: the value is the function's result.
  return result.value as Result;
}

/** Whether an evaluation failed because the page navigated to another document. */
export const isDocumentLeft = (error: unknown): boolean =>
  /context was destroyed|cannot find context|navigated|no frame for given id|promise was collected|inspected target/i.test(
    String(error),
  );
