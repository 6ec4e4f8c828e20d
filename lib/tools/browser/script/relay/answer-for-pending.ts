import type { Relay } from "./relay-state.ts";

type Fields = Record<string, unknown>;

/** Commands of Playwright whose result is empty. */
const EMPTY_RESULT = /\.(enable|disable|set[A-Z]\w*|runIfWaitingForDebugger|addBinding)$/;

/**
 * Returns what Chromium will answer to a command with which Playwright connects to a page. While a navigation of the
 * page is pending, Chromium holds back the commands for its document, and so their answers. Without them, Playwright
 * would connect only when the server of the next document has answered, so that no script could leave the page. Chromium
 * executes the commands in order as soon as the navigation ends. Inner frames of the current document are left out.
 *
 * @returns the result; undefined if no navigation is pending, or if only the page knows the result.
 */
export function answerForPending(
  { options, pageOf }: Relay,
  method: string,
  sessionId: string,
): Fields | undefined {
  if (pageOf.get(sessionId) !== options.targetId) return undefined;
  const isScript = method === "Page.addScriptToEvaluateOnNewDocument";
  if (!isScript && method !== "Page.getFrameTree" && !EMPTY_RESULT.test(method)) return undefined;
  const shown = options.readPending?.();
  if (!shown) return undefined;
  if (method !== "Page.getFrameTree") return isScript ? { identifier: "pending" } : {};
  const { frameId, loaderId, url } = shown;
  return { frameTree: { frame: { id: frameId, loaderId, url, mimeType: "text/html" } } };
}
