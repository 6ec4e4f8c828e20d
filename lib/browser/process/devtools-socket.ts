import { WebSocket } from "ws";
import {
  BROWSER_BYTES_MAX,
  BROWSER_GONE,
  createAsk,
  type Devtools,
  type DevtoolsConnection,
  type DevtoolsMessage,
  MESSAGE_BYTES_MAX,
  readAnswerId,
  tooLarge,
} from "./devtools-connection.ts";

/** DevTools at the WebSocket URL of a remote browser (`BROWSER_CDP_URL`). */
export const devtoolsAt = (url: string): Devtools => ({
  playwright: url,
  async open(timeoutMs, handlers) {
    const socket = await openSocket(url, timeoutMs);
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
      for (const onAnswer of pending.values()) onAnswer(BROWSER_GONE);
      pending.clear();
      closed.resolve();
      handlers.onClose();
    });

    const send: DevtoolsConnection["send"] = (command, onAnswer) => {
      // On a closed socket, `ws` would drop the command without an error.
      if (socket.readyState !== WebSocket.OPEN) return onAnswer(BROWSER_GONE);
      const id = ++lastId;
      pending.set(id, onAnswer);
      socket.send(JSON.stringify({ id, ...command }));
    };
    return {
      send,
      ask: createAsk(send),
      isOpen: () => socket.readyState === WebSocket.OPEN,
      terminate: () => socket.terminate(),
      closed: closed.promise,
    };
  },
});

function openSocket(url: string, timeoutMs: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      handshakeTimeout: timeoutMs,
      maxPayload: BROWSER_BYTES_MAX,
    });
    socket.once("open", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Parses a message of the browser. Replaces a huge answer by an error, and drops a huge event. */
function readMessage(data: Buffer): DevtoolsMessage | undefined {
  if (data.byteLength <= MESSAGE_BYTES_MAX) return JSON.parse(data.toString()) as DevtoolsMessage;
  const id = readAnswerId(data);
  return id === undefined ? undefined : tooLarge(id);
}
