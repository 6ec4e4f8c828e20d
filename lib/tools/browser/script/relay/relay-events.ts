import { describeNetError } from "#lib/browser/page/explain-failure.ts";
import type { DevtoolsMessage } from "#lib/browser/process/devtools-connection.ts";
import { isOwnName } from "./devtools-commands.ts";
import { addWorld } from "./relay-refs.ts";
import {
  addContext,
  addSession,
  type Contexts,
  type PageRelayOptions,
  type Relay,
  removeSession,
} from "./relay-state.ts";
import { readRecord } from "./shown-ids.ts";

type Fields = Record<string, unknown>;

/** Attaches to a page and shows it to the script. Does nothing for a page that the script was already shown. */
export function showTarget(relay: Relay, targetInfo: Fields): Promise<void> {
  const targetId = String(targetInfo.targetId);
  const existing = relay.targets.get(targetId);
  if (existing) return existing;
  const promise = attach(relay, targetId, targetInfo);
  relay.targets.set(targetId, promise);
  // If the page was closed, attaching to it fails and the script is not shown the page.
  promise.catch(() => relay.targets.delete(targetId));
  return promise;
}

async function attach(relay: Relay, targetId: string, targetInfo: Fields): Promise<void> {
  const { sessionId } = await relay.socket.ask("Target.attachToTarget", { targetId, flatten: true });
  addSession(relay, sessionId);
  relay.pageOf.set(String(sessionId), targetId);
  const event = {
    method: "Target.attachedToTarget",
    params: { sessionId, targetInfo: { ...targetInfo, attached: true }, waitingForDebugger: false },
  };
  relay.ids.recordEvent(event);
  relay.options.toScript(event);
}

/**
 * Forwards an event to the script if it concerns a page, frame or worker that the script was shown. Does not forward
 * events of isolated worlds that do not belong to the script's Playwright.
 */
export function passEvent(relay: Relay, event: DevtoolsMessage): void {
  const { options, sessions } = relay;
  const { method, params = {}, sessionId } = event;
  if (sessionId === undefined) followBrowserEvent(relay, event);
  const contexts = sessionId === undefined ? undefined : sessions.get(sessionId);
  if (!contexts || sessionId === undefined) return;
  if (isOfForeignWorld(event, contexts)) return;
  if (method === "Target.attachedToTarget") addSession(relay, params.sessionId);
  if (method === "Target.detachedFromTarget") removeSession(relay, params.sessionId);
  if (method === "Runtime.executionContextsCleared") contexts.clear();
  if (method === "Runtime.executionContextDestroyed") contexts.delete(Number(params.executionContextId));
  if (method === "Runtime.executionContextCreated") {
    const context = readRecord(params.context);
    const { frameId } = readRecord(context.auxData);
    const id = Number(context.id);
    if (isOwnName(context.name)) addWorld(relay, { sessionId, id, frameId: String(frameId) });
    else addContext(contexts, id, undefined);
  }
  const isFailedPage = method === "Network.loadingFailed" && params.type === "Document";
  if (isFailedPage) describeFailure(options, params, params.requestId);
  relay.ids.recordEvent(event);
  options.toScript(event);
}

/**
 * Whether an event comes from an isolated world that the script must not see, such as a console message of the
 * overlay. Also true for a call of Playwright's binding that Playwright cannot read: a page can call the binding too.
 */
function isOfForeignWorld({ method, params = {} }: DevtoolsMessage, contexts: Contexts): boolean {
  switch (method) {
    case "Runtime.executionContextCreated": {
      const context = readRecord(params.context);
      return readRecord(context.auxData).isDefault === false && !isOwnName(context.name);
    }
    case "Runtime.consoleAPICalled":
      return isForeign(params.executionContextId, contexts);
    case "Runtime.exceptionThrown":
      return isForeign(readRecord(params.exceptionDetails).executionContextId, contexts);
    case "Runtime.bindingCalled":
      return isForeign(params.executionContextId, contexts) || !isBindingPayload(params.payload);
    default:
      return false;
  }
}

const isForeign = (contextId: unknown, contexts: Contexts) =>
  typeof contextId === "number" && !contexts.has(contextId);

/** Whether this is the payload of Playwright's binding: JSON of an object. */
function isBindingPayload(payload: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(payload));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Handles an event about the browser as a whole. Shows the script new pages of its session, and forwards the event that
 * a page was detached.
 */
function followBrowserEvent(relay: Relay, event: DevtoolsMessage): void {
  const { method, params = {} } = event;
  if (method === "Target.targetCreated" && relay.isAttached) {
    const info = readRecord(params.targetInfo);
    // All pages of this browser context belong to the session.
    const { browserContextId } = relay.pageInfo;
    const isOurs = browserContextId !== undefined && info.browserContextId === browserContextId;
    if (info.type === "page" && isOurs) showTarget(relay, info).catch(() => {});
  }
  if (method === "Target.targetDestroyed") relay.targets.delete(String(params.targetId));
  if (method === "Target.detachedFromTarget" && removeSession(relay, params.sessionId))
    relay.options.toScript(event);
}

/** Replaces Chromium's code for a failed navigation with a readable reason, which Playwright's error then shows. */
export function describeFailure({ readRefusal }: PageRelayOptions, failure: Fields, loaderId: unknown): void {
  const reason = typeof loaderId === "string" ? readRefusal?.(loaderId) : undefined;
  const code = typeof failure.errorText === "string" ? failure.errorText : undefined;
  // Clears `canceled`, because Playwright would otherwise report a detached frame instead of the reason.
  if (reason !== undefined) Object.assign(failure, { errorText: reason, canceled: false });
  else if (failure.isDownload === true) failure.errorText = "the address is a download, not a page";
  else if (code?.startsWith("net::ERR_")) failure.errorText = describeNetError(code, "the address");
}
