import type { ScriptPointer } from "#lib/browser/browser-service.ts";
import { describeNetError } from "#lib/browser/page/explain-failure.ts";
import {
  type Devtools,
  type DevtoolsConnection,
  type DevtoolsMessage,
  SERVER_ERROR,
} from "#lib/browser/process/devtools-connection.ts";
import { isOwnWorld, judgeCommand, type RelayVerdict } from "./relay-rules.ts";

/** A script's connection to the session's pages. */
export type PageRelay = {
  /** Checks one message of the script and forwards, answers or refuses it. */
  fromScript: (message: unknown) => void;
  /**
   * Makes the element of a ref, such as `e7`, available to the script's Playwright. Later messages of the script wait
   * until the element is available.
   * @param find finds the element's frame and DevTools node id, or returns undefined if the element is gone.
   */
  installRef: (ref: string, find: () => Promise<FoundNode | undefined>) => void;
  /**
   * Shows the script the session's other pages, in addition to the current one.
   * @returns how many pages the script can see.
   */
  showOtherPages: () => Promise<number>;
  /** Number of pages that the script was shown and that are still open. */
  pageCount: () => number;
  /** Whether the script changed the size of a page. The browser resets the size when the connection closes. */
  hasResized: () => boolean;
  /**
   * Stops accepting messages of the script. Closes the connection as soon as the page has handled all input that the
   * script sent. Resolves when the connection is closed.
   */
  close: () => Promise<void>;
};

/** DevTools' ids of an element and its frame. */
type FoundNode = { frameId: string; backendNodeId: number };

type PageRelayOptions = {
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
   * Called if a malformed message of the script causes an error after it had to wait for a ref. If the message did not
   * have to wait, `fromScript` throws the error.
   */
  onBroken: () => void;
  /** Called when the connection to the browser has ended, also if the relay itself closed the connection. */
  onClose: () => void;
  connectTimeoutMs?: number;
};

type Fields = Record<string, unknown>;

/**
 * Maps the ids of execution contexts to frame ids. The frame id is stored only for isolated worlds that the script's
 * Playwright created; for other contexts the value is undefined.
 */
type Contexts = Map<number, string | undefined>;

type Relay = {
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
  /**
   * The elements of the refs that the script uses. They are also installed in isolated worlds that Playwright creates
   * later.
   */
  refs: Map<string, FoundNode>;
  /**
   * Resolves when the refs that are being installed are available, and the script's messages that waited for them are
   * handled. New messages of the script wait for this promise. Undefined if nothing has to be waited for.
   */
  gate: Promise<void> | undefined;
  isAttached: boolean;
  isResized: boolean;
  isClosing: boolean;
  /** Number of input commands that the page has not answered yet. */
  pendingInputs: number;
};

/**
 * A command of the script. `contexts` are the execution contexts of the DevTools session that the command addresses.
 * They are undefined if the command addresses the browser as a whole, or a session that the script may not use.
 */
type ScriptCommand = {
  id: number;
  method: string;
  params: Fields;
  address: { sessionId?: string };
  contexts: Contexts | undefined;
};

/**
 * Connects a script to the session's pages, and to nothing else in the browser. The script sees the current page first,
 * then the other tabs, with their frames and workers. `judgeCommand` checks every command. The script is treated as
 * hostile: its messages may be malformed.
 * @throws Error when the browser cannot be reached or the page is gone.
 */
export async function connectPageRelay(options: PageRelayOptions): Promise<PageRelay> {
  const socket = await options.openDevtools(options.connectTimeoutMs ?? 5_000, {
    // `relay` is assigned before the first event, because the browser sends events only after a command that enables
    // them.
    onEvent: (event) => passEvent(relay, event),
    onClose: options.onClose,
  });
  const { targetInfo } = await socket
    .ask("Target.getTargetInfo", { targetId: options.targetId })
    .catch((error) => {
      socket.terminate();
      throw error;
    });
  const relay: Relay = {
    options,
    socket,
    pageInfo: readRecord(targetInfo),
    sessions: new Map(),
    targets: new Map(),
    pageOf: new Map(),
    refs: new Map(),
    gate: undefined,
    isAttached: false,
    isResized: false,
    isClosing: false,
    pendingInputs: 0,
  };
  return {
    fromScript(message) {
      if (relay.gate) passGate(relay, () => receiveCommand(relay, message));
      else receiveCommand(relay, message);
    },
    installRef(ref, find) {
      // If the ref cannot be installed, the script's locator fails with an error message about the ref.
      passGate(relay, () => installRef(relay, ref, find).catch(() => {}));
    },
    async showOtherPages() {
      // The browser now reports existing pages as if they had just been created, so `followBrowserEvent` shows them.
      await socket.ask("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
      await Promise.allSettled(relay.targets.values());
      return relay.targets.size;
    },
    pageCount: () => relay.targets.size,
    hasResized: () => relay.isResized,
    close() {
      relay.isClosing = true;
      terminateWhenQuiet(relay);
      return socket.closed;
    },
  };
}

function terminateWhenQuiet({ socket, isClosing, pendingInputs }: Relay): void {
  if (isClosing && pendingInputs === 0) socket.terminate();
}

/** Attaches to a page and shows it to the script. Does nothing for a page that the script was already shown. */
function showTarget(relay: Relay, targetInfo: Fields): Promise<void> {
  const targetId = String(targetInfo.targetId);
  const existing = relay.targets.get(targetId);
  if (existing) return existing;
  const promise = attach(relay, targetId, targetInfo);
  relay.targets.set(targetId, promise);
  // If the page was closed, attaching to it fails and the script is not shown the page.
  promise.catch(() => relay.targets.delete(targetId));
  return promise;
}

async function attach(
  { options, socket, sessions, pageOf }: Relay,
  targetId: string,
  targetInfo: Fields,
): Promise<void> {
  const { sessionId } = await socket.ask("Target.attachToTarget", { targetId, flatten: true });
  sessions.set(String(sessionId), new Map());
  pageOf.set(String(sessionId), targetId);
  options.toScript({
    method: "Target.attachedToTarget",
    params: { sessionId, targetInfo: { ...targetInfo, attached: true }, waitingForDebugger: false },
  });
}

/**
 * Forwards an event to the script if it concerns a page, frame or worker that the script was shown. Does not forward
 * the creation of an isolated world that does not belong to the script's Playwright.
 */
function passEvent(relay: Relay, event: DevtoolsMessage): void {
  const { options, sessions } = relay;
  const { method, params = {}, sessionId } = event;
  if (sessionId === undefined) followBrowserEvent(relay, event);
  const contexts = sessionId === undefined ? undefined : sessions.get(sessionId);
  if (!contexts) return;
  if (method === "Target.attachedToTarget") sessions.set(String(params.sessionId), new Map());
  if (method === "Target.detachedFromTarget") sessions.delete(String(params.sessionId));
  if (method === "Runtime.executionContextsCleared") contexts.clear();
  if (method === "Runtime.executionContextDestroyed") contexts.delete(Number(params.executionContextId));
  if (method === "Runtime.executionContextCreated") {
    const context = readRecord(params.context);
    const { isDefault, frameId } = readRecord(context.auxData);
    const isOwn = isOwnWorld(context.name);
    if (isDefault === false && !isOwn) return;
    if (isOwn)
      addWorld(relay, { sessionId: String(sessionId), id: Number(context.id), frameId: String(frameId) });
    else contexts.set(Number(context.id), undefined);
  }
  const isFailedPage = method === "Network.loadingFailed" && params.type === "Document";
  if (isFailedPage) describeFailure(options, params, params.requestId);
  options.toScript(event);
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
  if (method === "Target.detachedFromTarget" && relay.sessions.delete(String(params.sessionId)))
    relay.options.toScript(event);
}

/** Replaces Chromium's code for a failed navigation with a readable reason, which Playwright's error then shows. */
function describeFailure({ readRefusal }: PageRelayOptions, failure: Fields, loaderId: unknown): void {
  const reason = typeof loaderId === "string" ? readRefusal?.(loaderId) : undefined;
  const code = typeof failure.errorText === "string" ? failure.errorText : undefined;
  // Clears `canceled`, because Playwright would otherwise report a detached frame instead of the reason.
  if (reason !== undefined) Object.assign(failure, { errorText: reason, canceled: false });
  else if (failure.isDownload === true) failure.errorText = "the address is a download, not a page";
  else if (code?.startsWith("net::ERR_")) failure.errorText = describeNetError(code, "the address");
}

/**
 * Runs `work` after all work that was queued earlier. `relay.gate` is the end of that queue; it is undefined when the
 * queue is empty.
 */
function passGate(relay: Relay, work: () => unknown): void {
  const gate: Promise<void> = (relay.gate ?? Promise.resolve())
    .then(work)
    .catch(relay.options.onBroken)
    .then(() => {
      if (relay.gate === gate) relay.gate = undefined;
    });
  relay.gate = gate;
}

/** An isolated world (JavaScript execution context) that the script's Playwright uses in a frame. */
type World = { sessionId: string; id: number; frameId: string };

async function installRef(
  relay: Relay,
  ref: string,
  find: () => Promise<FoundNode | undefined>,
): Promise<void> {
  const found = await find();
  if (!found) return;
  relay.refs.set(ref, found);
  for (const [sessionId, contexts] of relay.sessions)
    for (const [id, frameId] of contexts)
      if (frameId === found.frameId) await putRef(relay, { sessionId, id, frameId }, ref, found);
}

/**
 * Records a world and installs in it the refs of its frame that the script has already used. `installRef` could not
 * install them there, because Playwright had not created the world yet.
 */
function addWorld(relay: Relay, world: World): void {
  const contexts = relay.sessions.get(world.sessionId);
  if (!contexts || contexts.has(world.id)) return;
  contexts.set(world.id, world.frameId);
  for (const [ref, found] of relay.refs) {
    // The error for an element that is gone is ignored here, because the script's locator reports it.
    if (found.frameId === world.frameId)
      passGate(relay, () => putRef(relay, world, ref, found).catch(() => {}));
  }
}

async function putRef(
  { socket }: Relay,
  world: World,
  ref: string,
  { backendNodeId }: FoundNode,
): Promise<void> {
  const { sessionId, id: executionContextId } = world;
  const ask = (method: string, params: Fields) =>
    new Promise<Fields>((resolve, reject) =>
      socket.send({ method, params, sessionId }, ({ result, error }) =>
        error ? reject(new Error(error.message)) : resolve(result ?? {}),
      ),
    );
  const { object } = await ask("DOM.resolveNode", { backendNodeId, executionContextId });
  await ask("Runtime.callFunctionOn", {
    functionDeclaration: "function (ref) { (globalThis.agentSessionRefs ??= new Map()).set(ref, this); }",
    objectId: readRecord(object).objectId,
    arguments: [{ value: ref }],
  });
}

/** Reads a message of the script, and forwards, answers or refuses its command. */
function receiveCommand(relay: Relay, message: unknown): void {
  const { options, sessions } = relay;
  const { id, method, sessionId, params } = readRecord(message);
  if (relay.isClosing || typeof id !== "number" || typeof method !== "string") return;
  const address = typeof sessionId === "string" ? { sessionId } : {};
  const contexts = typeof sessionId === "string" ? sessions.get(sessionId) : undefined;
  const command: ScriptCommand = { id, method, params: readRecord(params), address, contexts };
  const refuse = (reason: string) =>
    options.toScript({ id, ...address, error: { code: SERVER_ERROR, message: reason } });

  const isSessionKnown = sessionId === undefined || contexts !== undefined;
  const judged = isSessionKnown ? judge(relay, command) : refusal("No such session.");
  if (judged.verdict === "refuse") refuse(judged.reason);
  else if (judged.verdict === "forward") forward(relay, command);
  else
    answerLocally(relay, command).then(
      (result) => options.toScript({ id, result }),
      (error) => refuse(error instanceof Error ? error.message : String(error)),
    );
}

/**
 * Decides about a command. Applies `judgeCommand`, and checks that the script may use the sessions and contexts that
 * the command refers to.
 */
function judge({ socket, sessions }: Relay, { method, params, contexts }: ScriptCommand): RelayVerdict {
  const judged = judgeCommand(contexts ? "target" : "browser", method, params);
  if (judged.verdict !== "forward") return judged;
  if (contexts) {
    const contextId = params.contextId ?? params.executionContextId;
    if (contextId !== undefined && !contexts.has(Number(contextId))) return refusal("No such context.");
    if (method === "Target.detachFromTarget" && !sessions.has(String(params.sessionId)))
      return refusal("No such session.");
  }
  return socket.isOpen() ? judged : refusal("The browser is gone.");
}

const refusal = (reason: string): RelayVerdict => ({ verdict: "refuse", reason });

/**
 * Executes a command to the browser as a whole, limited to the session's pages. @throws Error with a readable message.
 */
async function answerLocally(relay: Relay, { method, params }: ScriptCommand): Promise<Fields> {
  const { socket, sessions, targets, pageInfo } = relay;
  switch (method) {
    case "Target.setAutoAttach":
      if (relay.isAttached) return {};
      relay.isAttached = true;
      await showTarget(relay, relay.pageInfo);
      return {};
    case "Target.getTargetInfo":
      return { targetInfo: { targetId: "browser", type: "browser", title: "", url: "", attached: true } };
    case "Target.createTarget": {
      const { browserContextId } = pageInfo;
      const { targetId } = await socket.ask(method, { url: "about:blank", browserContextId });
      // Playwright must see the page before it gets the answer to this command.
      await showTarget(relay, { targetId, type: "page", title: "", url: "about:blank", browserContextId });
      return { targetId };
    }
    case "Target.closeTarget":
      if (!targets.has(String(params.targetId))) throw new Error("No such target.");
      if (targets.size === 1) throw new Error("This is the last page of the session; it stays open.");
      return socket.ask(method, { targetId: params.targetId });
    default:
      if (!sessions.has(String(params.sessionId))) throw new Error("No such session.");
      return socket.ask(method, { sessionId: params.sessionId });
  }
}

function forward(relay: Relay, { id, method, params, address, contexts }: ScriptCommand): void {
  const { options, socket, pageInfo } = relay;
  const front = method === "Page.bringToFront" && relay.pageOf.get(address.sessionId ?? "");
  if (front) options.onFront?.(front);
  if (contexts && method === "Emulation.setDeviceMetricsOverride") relay.isResized = true;
  const isInput = method.startsWith("Input.");
  if (isInput) {
    relay.pendingInputs += 1;
    reportInput(method, params, options.onInput);
  }
  const isNewWorld = contexts && method === "Page.createIsolatedWorld";
  const scoped = scopeParams(method, params, pageInfo.browserContextId);
  socket.send({ method, params: scoped, ...address }, (answer) => {
    if (isNewWorld && answer.result && address.sessionId !== undefined) {
      const id = Number(answer.result.executionContextId);
      addWorld(relay, { sessionId: address.sessionId, id, frameId: String(params.frameId) });
    }
    if (isInput) relay.pendingInputs -= 1;
    terminateWhenQuiet(relay);
    if (method === "Page.navigate" && answer.result)
      describeFailure(options, answer.result, answer.result.loaderId);
    options.toScript({ ...address, ...answer, id });
  });
}

/**
 * Reports mouse moves, mouse presses, and input that is not from a mouse. Does not report mouse releases and wheel
 * turns.
 */
function reportInput(
  method: string,
  { type, x, y }: Fields,
  onInput: PageRelayOptions["onInput"] = () => {},
): void {
  if (method !== "Input.dispatchMouseEvent") {
    onInput(undefined);
    return;
  }
  const kind = type === "mousePressed" ? "down" : type === "mouseMoved" ? "move" : undefined;
  if (kind && typeof x === "number" && typeof y === "number") onInput({ kind, x, y });
}

/**
 * Limits storage commands to the session's browser context. Limits `Target.setAutoAttach` to the flat mode, because the
 * relay supports no other mode.
 */
function scopeParams(method: string, params: Fields, browserContextId: unknown): Fields {
  if (method.startsWith("Storage.")) return { ...params, browserContextId };
  if (method === "Target.setAutoAttach") {
    return {
      autoAttach: params.autoAttach === true,
      waitForDebuggerOnStart: params.waitForDebuggerOnStart === true,
      flatten: true,
    };
  }
  return params;
}

function readRecord(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
