import type { DevtoolsMessage } from "#lib/browser/process/devtools-connection.ts";
import type { IdKind } from "./param-rules.ts";

/**
 * How many ids of one kind are kept. Playwright uses an id shortly after it got it. A response that is older than this
 * many requests has no body any more.
 */
const IDS_MAX = 10_000;

type Fields = Record<string, unknown>;

/** The ids in the browser's messages that the script may use in commands, besides contexts, sessions and targets. */
export type ShownIds = {
  /** @param sessionId the DevTools session that the command addresses. */
  has: (kind: IdKind, id: string | number, sessionId: string) => boolean;
  /** Keeps the ids of an event that is passed to the script. */
  recordEvent: (event: DevtoolsMessage) => void;
  /** Keeps the ids of the answer to a command of the script. */
  recordAnswer: (method: string, result: Fields, sessionId: string) => void;
};

/** Ids that mean the same in every DevTools session. Others count only in the session in which they were shown. */
const SHARED: readonly IdKind[] = ["frame", "request"];

/** Creates the memory of the ids that the browser has shown to one script. Each kind keeps its latest ids. */
export function createShownIds(): ShownIds {
  const kinds = new Map<IdKind, Set<string>>();
  const keyOf = (kind: IdKind, id: string | number, sessionId: string) =>
    SHARED.includes(kind) ? String(id) : `${sessionId} ${id}`;
  const add = (kind: IdKind, id: unknown, sessionId = "") => {
    if (typeof id !== "string" && typeof id !== "number") return;
    const ids = kinds.get(kind) ?? new Set();
    kinds.set(kind, ids);
    const key = keyOf(kind, id, sessionId);
    // An id that is shown again becomes the latest.
    ids.delete(key);
    ids.add(key);
    const [oldest] = ids;
    if (ids.size > IDS_MAX && oldest !== undefined) ids.delete(oldest);
  };
  return {
    has: (kind, id, sessionId) => kinds.get(kind)?.has(keyOf(kind, id, sessionId)) ?? false,
    recordEvent({ method, params = {}, sessionId }) {
      switch (method) {
        case "Page.frameAttached":
          return add("frame", params.frameId);
        case "Page.frameNavigated":
          return add("frame", readRecord(params.frame).id);
        case "Runtime.executionContextCreated":
          return add("frame", readRecord(readRecord(params.context).auxData).frameId);
        case "Target.attachedToTarget":
          // A page or frame that is a target has one id for both.
          return add("frame", readRecord(params.targetInfo).targetId);
        case "Page.fileChooserOpened":
          return add("node", params.backendNodeId, sessionId);
        case "Network.requestWillBeSent":
        case "Fetch.requestPaused":
        case "Fetch.authRequired":
          return add("request", params.requestId);
      }
    },
    recordAnswer(method, result, sessionId) {
      switch (method) {
        case "Page.getFrameTree":
          for (const id of listFrames(result.frameTree)) add("frame", id);
          return;
        case "DOM.describeNode":
          return add("node", readRecord(result.node).backendNodeId, sessionId);
        case "DOM.getFrameOwner":
          return add("node", result.backendNodeId, sessionId);
        case "Page.printToPDF":
          return add("stream", result.stream, sessionId);
        case "Page.addScriptToEvaluateOnNewDocument":
          return add("init script", result.identifier, sessionId);
        case "Page.getNavigationHistory":
          for (const entry of readList(result.entries)) add("history entry", readRecord(entry).id, sessionId);
      }
    },
  };
}

/** Lists the ids of the frames of a frame tree. */
function listFrames(root: unknown): unknown[] {
  const trees = [readRecord(root)];
  // `trees` grows while the loop reads it.
  for (const { childFrames } of trees) for (const each of readList(childFrames)) trees.push(readRecord(each));
  return trees.map(({ frame }) => readRecord(frame).id);
}

/** Returns an object of a message; an empty object for any other value. */
export const readRecord = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const readList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
