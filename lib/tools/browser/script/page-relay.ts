import { WebSocket } from "ws";
import type { ScriptPointer } from "#lib/browser/browser-service.ts";
import { describeNetError } from "#lib/browser/page/explain-failure.ts";
import { isOwnWorld, judgeCommand } from "./relay-rules.ts";

/** One message of the DevTools protocol, in either direction. */
export type DevtoolsMessage = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { code?: number; message: string };
};

/** A script's way to the session's page. */
export type PageRelay = {
  /** Judges and passes on one message that came from the script. */
  fromScript: (message: unknown) => void;
  /** Whether the script changed the size of the page, which its end undoes for everybody. */
  hasResized: () => boolean;
  /** Takes nothing more from the script; resolves when the page has handled all input that the script sent. */
  close: () => Promise<void>;
};

/** What a relay connects. */
type PageRelayOptions = {
  /** WebSocket URL of the browser's DevTools endpoint. */
  devtoolsUrl: string;
  /** The session's page. */
  targetId: string;
  toScript: (message: DevtoolsMessage) => void;
  /** The script moved or pressed the pointer in the page's own view, or, without a pointer, used its keys. */
  onInput?: (pointer: ScriptPointer | undefined) => void;
  /** Why the navigation of a DevTools loader id was refused, in words. */
  readRefusal?: (loaderId: string) => string | undefined;
  /** The browser ended the connection. */
  onClose: () => void;
  connectTimeoutMs?: number;
};

/** A picture of the largest size that a tool keeps fits, as base64; a larger answer could not become a result. */
const MESSAGE_BYTES_MAX = 12 * 2 ** 20;
/** DevTools' own code for an error of the server's making. */
const SERVER_ERROR = -32000;

/**
 * Connects a script to the session's page, and to nothing else of the browser: it sees that page as the only one, with
 * its frames, workers and the pages it opened, and every command passes `judgeCommand`.
 * The script is hostile until proven otherwise: nothing it sends is trusted to be well-formed.
 * @throws Error when the browser cannot be reached or the page is gone.
 */
export async function connectPageRelay(options: PageRelayOptions): Promise<PageRelay> {
  const socket = await openSocket(options.devtoolsUrl, options.connectTimeoutMs ?? 5_000);
  const waiting = new Map<number, (message: DevtoolsMessage) => void>();
  /** DevTools sessions that the script was shown, with the contexts it may name in each. */
  const sessions = new Map<string, Set<number>>();
  const targets = new Set<string>();
  let lastId = 0;
  let isAttached = false;
  let isResized = false;
  let isClosing = false;
  let inputsOnTheWay = 0;
  const closed = Promise.withResolvers<void>();
  const closeWhenQuiet = () => {
    if (isClosing && inputsOnTheWay === 0) socket.terminate();
  };

  const send = (
    message: { method: string; params?: Record<string, unknown>; sessionId?: string },
    onAnswer: (answer: DevtoolsMessage) => void,
  ) => {
    const id = ++lastId;
    waiting.set(id, onAnswer);
    socket.send(JSON.stringify({ id, ...message }));
  };
  const ask = (method: string, params: Record<string, unknown>) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      send({ method, params }, (answer) =>
        answer.error ? reject(new Error(answer.error.message)) : resolve(answer.result ?? {}),
      );
    });

  const showTarget = async (targetInfo: Record<string, unknown>) => {
    const targetId = String(targetInfo.targetId);
    if (targets.has(targetId)) return;
    targets.add(targetId);
    const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
    sessions.set(String(sessionId), new Set());
    options.toScript({
      method: "Target.attachedToTarget",
      params: { sessionId, targetInfo: { ...targetInfo, attached: true }, waitingForDebugger: false },
    });
  };

  /** Replaces Chromium's code for a failed navigation by the reason in words, which Playwright's error then shows. */
  const describeFailure = (failure: Record<string, unknown>, loaderId: unknown) => {
    const reason = typeof loaderId === "string" ? options.readRefusal?.(loaderId) : undefined;
    const code = typeof failure.errorText === "string" ? failure.errorText : undefined;
    // Playwright guesses at a detached frame where a request reads as cancelled.
    if (reason !== undefined) Object.assign(failure, { errorText: reason, canceled: false });
    else if (failure.isDownload === true)
      failure.errorText = "the address is a download, and downloads are refused";
    else if (code?.startsWith("net::ERR_")) failure.errorText = describeNetError(code, "the address");
  };

  const onEvent = (event: DevtoolsMessage) => {
    const params = event.params ?? {};
    if (event.sessionId === undefined) {
      if (event.method === "Target.targetCreated" && isAttached) {
        const info = readRecord(params.targetInfo);
        // A page that the session's page opened is the session's too.
        if (info.type === "page" && targets.has(String(info.openerId))) showTarget(info).catch(() => {});
      }
      if (event.method === "Target.detachedFromTarget" && sessions.delete(String(params.sessionId))) {
        options.toScript(event);
      }
      return;
    }
    const contexts = sessions.get(event.sessionId);
    if (!contexts) return;
    if (event.method === "Target.attachedToTarget") sessions.set(String(params.sessionId), new Set());
    if (event.method === "Target.detachedFromTarget") sessions.delete(String(params.sessionId));
    if (event.method === "Runtime.executionContextsCleared") contexts.clear();
    if (event.method === "Runtime.executionContextCreated") {
      const context = readRecord(params.context);
      if (readRecord(context.auxData).isDefault === false && !isOwnWorld(context.name)) return;
      contexts.add(Number(context.id));
    }
    const isFailed = event.method === "Network.loadingFailed" && params.type === "Document";
    if (isFailed) describeFailure(params, params.requestId);
    options.toScript(event);
  };

  socket.on("message", (data: Buffer) => {
    const message = readMessage(data);
    if (!message) return;
    if (message.id === undefined) return onEvent(message);
    const onAnswer = waiting.get(message.id);
    waiting.delete(message.id);
    onAnswer?.(message);
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const onAnswer of waiting.values()) onAnswer({ error: { message: "The browser is gone." } });
    waiting.clear();
    closed.resolve();
    options.onClose();
  });

  const { targetInfo: found } = await ask("Target.getTargetInfo", { targetId: options.targetId }).catch(
    (error) => {
      socket.terminate();
      throw error;
    },
  );
  const pageInfo = readRecord(found);
  const { browserContextId } = pageInfo;

  const answerLocally = async (method: string, params: Record<string, unknown>) => {
    switch (method) {
      case "Target.setAutoAttach":
        if (isAttached) return {};
        isAttached = true;
        await ask("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
        await showTarget(pageInfo);
        return {};
      case "Target.getTargetInfo":
        return { targetInfo: { targetId: "browser", type: "browser", title: "", url: "", attached: true } };
      case "Target.closeTarget":
        if (params.targetId === options.targetId) {
          throw new Error("The page belongs to the session; a script cannot close it.");
        }
        if (!targets.has(String(params.targetId))) throw new Error("No such target.");
        return ask(method, { targetId: params.targetId });
      default:
        if (!sessions.has(String(params.sessionId))) throw new Error("No such session.");
        return ask(method, { sessionId: params.sessionId });
    }
  };

  const fromScript = (raw: unknown) => {
    const message = readRecord(raw);
    const { id, method, sessionId } = message;
    if (isClosing || typeof id !== "number" || typeof method !== "string") return;
    const params = readRecord(message.params);
    const address = typeof sessionId === "string" ? { sessionId } : {};
    const refuse = (reason: string) =>
      options.toScript({ id, ...address, error: { code: SERVER_ERROR, message: reason } });
    const contexts = typeof sessionId === "string" ? sessions.get(sessionId) : undefined;
    if (sessionId !== undefined && !contexts) return refuse("No such session.");
    const judged = judgeCommand(contexts ? "target" : "browser", method, params);
    if (judged.verdict === "refuse") return refuse(judged.reason);
    if (judged.verdict === "local") {
      answerLocally(method, params).then(
        (result) => options.toScript({ id, result }),
        (error) => refuse(error instanceof Error ? error.message : String(error)),
      );
      return;
    }
    if (contexts) {
      const named = params.contextId ?? params.executionContextId;
      if (named !== undefined && !contexts.has(Number(named))) return refuse("No such context.");
      if (method === "Target.detachFromTarget" && !sessions.has(String(params.sessionId))) {
        return refuse("No such session.");
      }
      if (method === "Emulation.setDeviceMetricsOverride") isResized = true;
    }
    if (socket.readyState !== WebSocket.OPEN) return refuse("The browser is gone.");
    const isInput = method.startsWith("Input.");
    if (isInput) {
      inputsOnTheWay += 1;
      reportInput(method, params, options.onInput);
    }
    const isNewWorld = contexts && method === "Page.createIsolatedWorld";
    send({ method, params: scopeParams(method, params, browserContextId), ...address }, (answer) => {
      if (isNewWorld && answer.result) contexts.add(Number(answer.result.executionContextId));
      if (isInput) inputsOnTheWay -= 1;
      closeWhenQuiet();
      if (method === "Page.navigate" && answer.result) describeFailure(answer.result, answer.result.loaderId);
      options.toScript({ ...address, ...answer, id });
    });
  };

  return {
    fromScript,
    hasResized: () => isResized,
    close() {
      isClosing = true;
      closeWhenQuiet();
      return closed.promise;
    },
  };
}

/**
 * Parses a message of the browser. Parsing a huge one would block the event loop: an answer is replaced by an error, and
 * an event is dropped.
 */
function readMessage(data: Buffer): DevtoolsMessage | undefined {
  if (data.byteLength <= MESSAGE_BYTES_MAX) return JSON.parse(data.toString()) as DevtoolsMessage;
  const id = /^\{"id":(\d+)/.exec(data.toString("latin1", 0, 32))?.[1];
  if (id === undefined) return undefined;
  const limit = `${MESSAGE_BYTES_MAX / 2 ** 20} MiB`;
  return {
    id: Number(id),
    error: { code: SERVER_ERROR, message: `The browser's answer is larger than ${limit}; ask for less.` },
  };
}

/** Tells of what moves the pointer or presses something; what only looks or lets go is nobody's news. */
function reportInput(
  method: string,
  { type, x, y }: Record<string, unknown>,
  onInput: PageRelayOptions["onInput"] = () => {},
): void {
  if (method !== "Input.dispatchMouseEvent") {
    onInput(undefined);
    return;
  }
  const kind = type === "mousePressed" ? "down" : type === "mouseMoved" ? "move" : undefined;
  if (kind && typeof x === "number" && typeof y === "number") onInput({ kind, x, y });
}

/** Cookies are those of the session's own context; targets attach in the one form that the relay follows. */
function scopeParams(method: string, params: Record<string, unknown>, browserContextId: unknown) {
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

function openSocket(url: string, timeoutMs: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      handshakeTimeout: timeoutMs,
      maxPayload: 256 * 2 ** 20,
    });
    socket.once("open", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

function readRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
