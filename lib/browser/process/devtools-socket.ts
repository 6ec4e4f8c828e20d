import type { ConnectOverCDPTransport } from "playwright";
import { WebSocket } from "ws";
import {
  BROWSER_GONE,
  createAsk,
  type Devtools,
  type DevtoolsConnection,
  type DevtoolsMessage,
  KEPT_BYTES_MAX,
  MESSAGE_BYTES_MAX,
  parseMessage,
  readAnswerId,
  readLastSessionId,
  TOO_MANY_UNANSWERED,
  tooLarge,
  UNANSWERED_MAX,
  UNREAD_BYTES_MAX,
} from "./devtools-connection.ts";
import { createListenerGuard } from "./listener-guard.ts";
import { createPlaywrightGate } from "./playwright-gate.ts";

/** Time limit for Playwright's connection to the endpoint. */
const CONNECT_MS_MAX = 15_000;

/** Largest message of a remote browser, in bytes. `ws` keeps a message whole, so a larger one ends the connection. */
const SOCKET_BYTES_MAX = 64 * 2 ** 20;

/**
 * DevTools at the WebSocket URL of a remote browser (`BROWSER_CDP_URL`). Each connection has a socket of its own.
 * @throws Error when the endpoint cannot be reached.
 */
export async function openDevtoolsAt(url: string): Promise<Devtools> {
  const socket = await openSocket(url, CONNECT_MS_MAX);
  const devtools: Devtools = {
    playwright: { send() {}, close() {} },
    onError: undefined,
    open: (timeoutMs, handlers) => openConnection(devtools, url, timeoutMs, handlers),
  };
  devtools.playwright = createTransport(devtools, socket);
  return devtools;
}

/** Creates the guard of a socket's listeners. An error of the service is reported, and ends the connection. */
const guardOf = (devtools: Pick<Devtools, "onError">, socket: WebSocket) =>
  createListenerGuard((error) => {
    socket.terminate();
    devtools.onError?.(error);
  });

function createTransport(devtools: Pick<Devtools, "onError">, socket: WebSocket): ConnectOverCDPTransport {
  const gate = createPlaywrightGate();
  const guard = guardOf(devtools, socket);
  const transport: ConnectOverCDPTransport = {
    send: (message) => sendTo(socket, message),
    close: () => socket.close(),
  };
  // Each message gets its own task, so that Playwright has finished with the previous message.
  const deliver = (message: DevtoolsMessage) =>
    void setImmediate(guard(() => transport.onmessage?.(message)));
  const receive = (data: Buffer) => {
    if (!gate.admits(data)) return;
    if (data.byteLength > KEPT_BYTES_MAX) {
      const [id, sessionId] = [readAnswerId(data), readLastSessionId(data)];
      if (id !== undefined)
        deliver({ ...tooLarge(id, KEPT_BYTES_MAX), ...(sessionId !== undefined && { sessionId }) });
      return;
    }
    const message = parseMessage(data);
    // What is at the URL may be no browser, for example a gateway that sends a text.
    if (message) deliver(gate.limit(message, data.byteLength));
    else socket.terminate();
  };
  socket.on("message", guard(receive));
  socket.on("error", () => socket.terminate());
  socket.on(
    "close",
    guard(() => transport.onclose?.()),
  );
  return transport;
}

/** Sends a message. Ends the connection if the browser no longer reads what is sent. */
function sendTo(socket: WebSocket, message: object): void {
  socket.send(JSON.stringify(message));
  if (socket.bufferedAmount > UNREAD_BYTES_MAX) socket.terminate();
}

async function openConnection(
  devtools: Pick<Devtools, "onError">,
  url: string,
  timeoutMs: number,
  handlers: Parameters<Devtools["open"]>[1],
): Promise<DevtoolsConnection> {
  const socket = await openSocket(url, timeoutMs);
  const guard = guardOf(devtools, socket);
  const pending = new Map<number, (message: DevtoolsMessage) => void>();
  const closed = Promise.withResolvers<void>();
  let lastId = 0;

  const receive = (data: Buffer) => {
    const isHuge = data.byteLength > MESSAGE_BYTES_MAX;
    const message = isHuge ? replaceHuge(data) : parseMessage(data);
    // What is at the URL may be no browser, for example a gateway that sends a text.
    if (!message && !isHuge) socket.terminate();
    if (!message) return;
    if (message.id === undefined) return handlers.onEvent(message);
    const onAnswer = pending.get(message.id);
    pending.delete(message.id);
    onAnswer?.(message);
  };
  const end = () => {
    closed.resolve();
    for (const onAnswer of pending.values()) onAnswer(BROWSER_GONE);
    pending.clear();
    handlers.onClose();
  };
  socket.on("message", guard(receive));
  socket.on("error", () => socket.terminate());
  socket.on("close", guard(end));

  const send: DevtoolsConnection["send"] = (command, onAnswer) => {
    // On a closed socket, `ws` would drop the command without an error.
    if (socket.readyState !== WebSocket.OPEN) return onAnswer(BROWSER_GONE);
    if (pending.size >= UNANSWERED_MAX) return onAnswer(TOO_MANY_UNANSWERED);
    const id = ++lastId;
    pending.set(id, onAnswer);
    sendTo(socket, { id, ...command });
  };
  return {
    send,
    ask: createAsk(send),
    isOpen: () => socket.readyState === WebSocket.OPEN,
    terminate: () => socket.terminate(),
    closed: closed.promise,
  };
}

function openSocket(url: string, timeoutMs: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      handshakeTimeout: timeoutMs,
      maxPayload: SOCKET_BYTES_MAX,
    });
    socket.once("open", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Replaces a huge answer by an error, and a huge event by undefined. */
function replaceHuge(data: Buffer): DevtoolsMessage | undefined {
  const id = readAnswerId(data);
  return id === undefined ? undefined : tooLarge(id);
}
