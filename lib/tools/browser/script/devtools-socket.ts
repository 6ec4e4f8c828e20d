import { WebSocket } from "ws";

/** One message of the DevTools protocol, in either direction. */
export type DevtoolsMessage = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { code?: number; message: string };
};

type Command = { method: string; params?: Record<string, unknown>; sessionId?: string };

/** A connection to a browser's DevTools endpoint that matches answers to commands. */
export type DevtoolsSocket = {
  /** Sends a command; `onAnswer` gets an error message when the connection ends first. */
  send: (command: Command, onAnswer: (answer: DevtoolsMessage) => void) => void;
  /** Sends a command to the browser as a whole. @throws Error with the browser's message. */
  ask: (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;
  isOpen: () => boolean;
  terminate: () => void;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
};

/** Fits a picture of the largest size that a tool keeps, as base64; a larger answer could not become a result. */
const MESSAGE_BYTES_MAX = 12 * 2 ** 20;
/** DevTools' own code for a server error. */
export const SERVER_ERROR = -32000;

/**
 * Connects to a DevTools endpoint.
 *
 * @param handlers.onClose called once when the connection has ended, after all open commands got an error.
 * @throws Error when the browser cannot be reached.
 */
export async function openDevtoolsSocket(
  url: string,
  connectTimeoutMs: number,
  handlers: { onEvent: (event: DevtoolsMessage) => void; onClose: () => void },
): Promise<DevtoolsSocket> {
  const socket = await openSocket(url, connectTimeoutMs);
  const pending = new Map<number, (message: DevtoolsMessage) => void>();
  const closed = Promise.withResolvers<void>();
  let lastId = 0;

  socket.on("message", (data: Buffer) => {
    const message = readMessage(data);
    if (!message) return;
    if (message.id === undefined) return handlers.onEvent(message);
    const onAnswer = pending.get(message.id);
    pending.delete(message.id);
    onAnswer?.(message);
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const onAnswer of pending.values()) onAnswer({ error: { message: "The browser is gone." } });
    pending.clear();
    closed.resolve();
    handlers.onClose();
  });

  const send: DevtoolsSocket["send"] = (command, onAnswer) => {
    const id = ++lastId;
    pending.set(id, onAnswer);
    socket.send(JSON.stringify({ id, ...command }));
  };
  return {
    send,
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        send({ method, params }, (answer) =>
          answer.error ? reject(new Error(answer.error.message)) : resolve(answer.result ?? {}),
        );
      }),
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
      maxPayload: 256 * 2 ** 20,
    });
    socket.once("open", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/**
 * Parses a message of the browser. Parsing a huge one would block the event loop: such an answer is replaced by an error,
 * and such an event is dropped.
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
