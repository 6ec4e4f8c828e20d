import { type DevtoolsMessage, readLastSessionId } from "./devtools-connection.ts";
import { type EventLimits, limitEvent } from "./limit-event.ts";

/**
 * Bounds the messages of one Chromium for Playwright, which keeps hundreds of them: 200 console messages, 200 errors and
 * 100 requests of each page, as large as they arrive. Pages decide how many there are and how large they are.
 */
type PlaywrightGate = {
  /**
   * Whether a message is parsed and passed on. Drops large page events, and page events of a browser context beyond a
   * number or size per second, so that a page in a loop does not occupy the process. Sessions that share a Chromium have
   * contexts of their own, so they do not lose events because of each other.
   */
  admits: (message: Buffer) => boolean;
  /** Shortens the texts and lists of an event of `bytes` bytes. Answers to commands stay as they are. */
  limit: (message: DevtoolsMessage, bytes: number) => DevtoolsMessage;
};

/** Events that a page's scripts cause as often and as large as they like. Playwright's state does not need them. */
const PAGE_EVENTS = new Set([
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
  "Runtime.bindingCalled",
  "Log.entryAdded",
  "Network.webSocketFrameReceived",
  "Network.webSocketFrameSent",
]);
const PAGE_EVENT_BYTES_MAX = 2 ** 20;
/**
 * Limits of the events of each method, so that console messages in a loop do not displace errors. Chromium sends an
 * event once for each DevTools session of the page, of which there are about three.
 */
export const EVENTS_PER_SECOND = 1_000;
const BYTES_PER_SECOND = 16 * 2 ** 20;
const PAGE_EVENT_LIMITS: EventLimits = { textChars: 2_000, chars: 8_000, listItems: 50 };

/** Above this size, the texts of other events are shortened too, for example a URL of megabytes. */
const EVENT_BYTES = 32_000;
const EVENT_LIMITS: EventLimits = { textChars: 16_000, chars: 64_000, listItems: 2_000 };

/**
 * Events whose content is needed whole: a picture, an address to check, the payload of a binding. None of them is kept
 * after it was handled, and the handlers have limits of their own.
 */
const WHOLE_EVENTS = new Set(["Page.screencastFrame", "Fetch.requestPaused", "Runtime.bindingCalled"]);

/** Creates the gate of one Chromium. `nowMs` returns the current time in milliseconds. */
export function createPlaywrightGate(nowMs = () => performance.now()): PlaywrightGate {
  /** The browser context of each DevTools session. */
  const contextOf = new Map<string, string>();
  /** Notes which context a new DevTools session belongs to. */
  const follow = ({ method, params = {} }: DevtoolsMessage) => {
    const sessionId = String(params.sessionId);
    if (method === "Target.detachedFromTarget") contextOf.delete(sessionId);
    if (method !== "Target.attachedToTarget") return;
    const { browserContextId } = (params.targetInfo ?? {}) as { browserContextId?: unknown };
    contextOf.set(sessionId, String(browserContextId));
  };
  /** What arrived in the current second, by context and method. */
  const arrived = new Map<string, { events: number; bytes: number }>();
  let secondStartMs = Number.NEGATIVE_INFINITY;
  return {
    admits(data) {
      const method = readMethod(data);
      if (!PAGE_EVENTS.has(method)) return true;
      const bytes = data.byteLength;
      if (bytes > PAGE_EVENT_BYTES_MAX) return false;
      const now = nowMs();
      if (now - secondStartMs >= 1_000) {
        arrived.clear();
        secondStartMs = now;
      }
      const key = `${contextOf.get(readLastSessionId(data) ?? "")} ${method}`;
      const sum = arrived.get(key) ?? { events: 0, bytes: 0 };
      arrived.set(key, sum);
      sum.events += 1;
      sum.bytes += bytes;
      return sum.events <= EVENTS_PER_SECOND && sum.bytes <= BYTES_PER_SECOND;
    },
    limit(message, bytes) {
      const { method, params } = message;
      follow(message);
      if (method === undefined || !params || WHOLE_EVENTS.has(method)) return message;
      if (PAGE_EVENTS.has(method)) return { ...message, params: limitEvent(params, PAGE_EVENT_LIMITS) };
      return bytes > EVENT_BYTES ? { ...message, params: limitEvent(params, EVENT_LIMITS) } : message;
    },
  };
}

/** Reads the method of an event without parsing the event. Chromium writes the method at the start. */
const readMethod = (head: Buffer): string =>
  /^\{"method":"([^"]+)"/.exec(head.toString("latin1", 0, 100))?.[1] ?? "";
