import { WebSocket } from "ws";
import {
  BROWSER_BYTES_MAX,
  BROWSER_GONE,
  createAsk,
  type Devtools,
  type DevtoolsConnection,
  type DevtoolsMessage,
  MESSAGE_BYTES_MAX,
  parseMessage,
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
      const isHuge = data.byteLength > MESSAGE_BYTES_MAX;
      const message = isHuge ? replaceHuge(data) : parseMessage(data);
      // What is at the URL may be no browser, for example a gateway that sends a text.
      if (!message && !isHuge) socket.terminate();
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

/** Replaces a huge answer by an error, and a huge event by undefined. */
function replaceHuge(data: Buffer): DevtoolsMessage | undefined {
  const id = readAnswerId(data);
  return id === undefined ? undefined : tooLarge(id);
}
