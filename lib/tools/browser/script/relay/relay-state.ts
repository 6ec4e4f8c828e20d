import type { ScriptPointer } from "#lib/browser/browser-service.ts";
import type { ShownDocument } from "#lib/browser/page/main-frame.ts";
import type {
  Devtools,
  DevtoolsConnection,
  DevtoolsMessage,
} from "#lib/browser/process/devtools-connection.ts";
import type { ShownIds } from "./shown-ids.ts";

type Fields = Record<string, unknown>;

/** DevTools' ids of an element and its frame. */
export type FoundNode = { frameId: string; backendNodeId: number };

/** What the relay of one script needs, and whom it informs. */
export type PageRelayOptions = {
  openDevtools: Devtools["open"];
  /** DevTools target id of the session's current page. */
  targetId: string;
  toScript: (message: DevtoolsMessage) => void;
  /**
   * Called with the pointer when the script moved or pressed it, and with `undefined` when the script sent input that
   * is not from a mouse. Not called for mouse releases and wheel turns.
   */
  onInput?: (pointer: ScriptPointer | undefined) => void;
  /** Called with the DevTools target id of a page that the script brought to the front. */
  onFront?: (targetId: string) => void;
  /**
   * Returns why the service refused a navigation. `loaderId` is DevTools' id of the navigation. Undefined if the
   * service did not refuse the navigation.
   */
  readRefusal?: (loaderId: string) => string | undefined;
  /**
   * The document that the current page shows while a navigation of the page is pending; undefined if none is pending.
   * @see answerForPending
   */
  readPending?: () => (ShownDocument & { url: string }) | undefined;
  /** Called if handling a message of the browser or of the script fails unexpectedly. The script must be ended then. */
  onBroken: (error: unknown) => void;
  /** Called when the connection to the browser has ended, also if the relay itself closed the connection. */
  onClose: () => void;
  connectTimeoutMs?: number;
};

/**
 * Maps the ids of execution contexts to frame ids. The frame id is stored only for isolated worlds that the script's
 * Playwright created; for other contexts the value is undefined.
 */
export type Contexts = Map<number, string | undefined>;

/** How many execution contexts a DevTools session, and how many sessions a relay may have. A page decides about both. */
const CONTEXTS_MAX = 10_000;
const SESSIONS_MAX = 1_000;

/** The state of one script's relay. */
export type Relay = {
  options: PageRelayOptions;
  socket: DevtoolsConnection;
  /** DevTools' description of the session's current page. */
  pageInfo: Fields;
  /** The DevTools sessions that the script may use, each with the execution contexts that the script may use in it. */
  sessions: Map<string, Contexts>;
  /** The pages that the script may see, by target id. Each promise resolves when the script has been told about the page. */
  targets: Map<string, Promise<void>>;
  /** Maps each DevTools session of a page to the target id of that page. */
  pageOf: Map<string, string>;
  /** The other ids that the script may use. */
  ids: ShownIds;
  /**
   * The elements of the refs that the script uses. They are also installed in isolated worlds that Playwright creates
   * later.
   */
  refs: Map<string, FoundNode>;
  /**
   * Resolves when the refs that are being installed are available. DevTools messages of the script wait for this
   * promise. Undefined if nothing has to be waited for.
   */
  gate: Promise<void> | undefined;
  isAttached: boolean;
  isResized: boolean;
  isClosing: boolean;
  /** Number of input commands that the page has not answered yet. */
  pendingInputs: number;
  /** Commands of the script that are not answered yet, and their size. */
  open: { commands: number; bytes: number; onLess: () => void };
};

/** Runs the work of a listener. An unexpected error ends the script, and not the process of the service. */
export function guard({ options }: Relay, work: () => void): void {
  try {
    work();
  } catch (error) {
    options.onBroken(error);
  }
}

/** Closes the connection of a script that has ended as soon as the page has handled all input of the script. */
export function terminateWhenQuiet({ socket, isClosing, pendingInputs }: Relay): void {
  if (isClosing && pendingInputs === 0) socket.terminate();
}

/** Adds a DevTools session that the script may use. @throws Error if the page has too many. */
export function addSession({ sessions }: Relay, sessionId: unknown): void {
  if (sessions.size >= SESSIONS_MAX)
    throw new Error(`the page has more than ${SESSIONS_MAX} frames and workers`);
  sessions.set(String(sessionId), new Map());
}

/** Removes a DevTools session. @returns whether the script could use it. */
export function removeSession({ sessions, pageOf }: Relay, sessionId: unknown): boolean {
  pageOf.delete(String(sessionId));
  return sessions.delete(String(sessionId));
}

/** Adds an execution context that the script may use. @throws Error if the page has too many. */
export function addContext(contexts: Contexts, id: number, frameId: string | undefined): void {
  if (contexts.size >= CONTEXTS_MAX) throw new Error(`the page has more than ${CONTEXTS_MAX} contexts`);
  contexts.set(id, frameId);
}
