import type { Readable, Writable } from "node:stream";
import type { ConnectOverCDPTransport } from "playwright";
import { withinTime } from "#lib/time/within-time.ts";
import {
  BROWSER_BYTES_MAX,
  BROWSER_GONE,
  createAsk,
  type Devtools,
  type DevtoolsCommand,
  type DevtoolsConnection,
  type DevtoolsMessage,
  MESSAGE_BYTES_MAX,
  parseMessage,
  readAnswerId,
  tooLarge,
} from "./devtools-connection.ts";

/** The DevTools of a browser that this process started. No other process can reach them. */
type DevtoolsPipe = Devtools & {
  /** Resolves when the browser answers. @throws Error when the browser ends before that. */
  ready: () => Promise<void>;
};

/** A client other than Playwright: a browser-level DevTools session, and the sessions that were opened through it. */
type Client = {
  browserSessionId: string;
  onEvent: (event: DevtoolsMessage) => void;
  /** Ends the connection, and answers its unanswered commands with an error. */
  end: () => void;
};

type Pending = { client: Client | undefined; onAnswer: (answer: DevtoolsMessage) => void };

/** Commands of this module have ids above this number. Playwright counts the ids of its commands from 1. */
const FIRST_ID = 1_000_000_000;
const END_OF_MESSAGE = 0;
/** Events that are dropped if they are huge. The page decides their size, and Playwright's state does not need them. */
const DROPPABLE = new Set([
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
  "Runtime.bindingCalled",
  "Log.entryAdded",
  "Network.webSocketFrameReceived",
  "Network.webSocketFrameSent",
]);

/**
 * Speaks DevTools over the two pipes of `--remote-debugging-pipe`: JSON messages that end with a zero byte. Chromium
 * accepts one client on the pipes, which is Playwright. Further connections are separate DevTools sessions on the same
 * pipes, with session ids of their own.
 */
export function openDevtoolsPipe(commands: Writable, answers: Readable): DevtoolsPipe {
  const pending = new Map<number, Pending>();
  /** The client of each DevTools session that is not Playwright's, by session id. */
  const clientOf = new Map<string, Client>();
  const clients = new Set<Client>();
  /** Ids of the browser-level sessions of all clients, also of ended ones. Playwright must not get their events. */
  const browserSessions = new Set<string>();
  let lastId = FIRST_ID;
  let isOpen = true;

  const write = (message: object) => {
    if (isOpen) commands.write(`${JSON.stringify(message)}\0`);
  };
  const transport: ConnectOverCDPTransport = {
    send: write,
    // Does nothing, because the owner of the browser ends the browser.
    close() {},
  };
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    for (const { client, onAnswer } of pending.values()) if (!client) onAnswer(BROWSER_GONE);
    for (const client of clients) client.end();
    pending.clear();
    transport.onclose?.();
  };
  const send = (client: Client | undefined, command: DevtoolsCommand, onAnswer: Pending["onAnswer"]) => {
    if (!isOpen) return onAnswer(BROWSER_GONE);
    const id = ++lastId;
    pending.set(id, { client, onAnswer });
    write({ id, ...command });
  };
  const askBrowser = createAsk((command, onAnswer) => send(undefined, command, onAnswer));

  const receive = (data: Buffer) => {
    if (data.byteLength > MESSAGE_BYTES_MAX && skipHuge(data)) return;
    const message = parseMessage(data);
    // Must not happen, because Chromium always writes JSON.
    if (!message) return close();
    if (message.id !== undefined && message.id > FIRST_ID) return receiveAnswer(message.id, message);
    const client = message.sessionId === undefined ? undefined : clientOf.get(message.sessionId);
    if (client) receiveEvent(client, message);
    // Each message gets its own task, so that Playwright has finished with the previous message. Otherwise Playwright
    // misses contexts that Chromium announces before Playwright listens for them.
    else if (!concernsClient(message)) setImmediate(() => transport.onmessage?.(message));
  };
  /**
   * Handles a huge message that Playwright does not need, without parsing the message. Replaces an answer to a command
   * of this module by an error. Drops an event that is for a client or in `DROPPABLE`.
   * @returns false if the message must be parsed and delivered to Playwright.
   */
  const skipHuge = (data: Buffer): boolean => {
    const id = readAnswerId(data);
    if (id === undefined) return clientOf.has(readLastSessionId(data)) || DROPPABLE.has(readMethod(data));
    if (id > FIRST_ID) receiveAnswer(id, tooLarge(id));
    return id > FIRST_ID;
  };
  const receiveAnswer = (id: number, message: DevtoolsMessage) => {
    const command = pending.get(id);
    pending.delete(id);
    command?.onAnswer(command.client ? withoutBrowserSession(command.client, message) : message);
  };
  const receiveEvent = (client: Client, message: DevtoolsMessage) => {
    const sessionId = String(message.params?.sessionId);
    if (message.method === "Target.attachedToTarget") clientOf.set(sessionId, client);
    if (message.method === "Target.detachedFromTarget") clientOf.delete(sessionId);
    client.onEvent(withoutBrowserSession(client, message));
  };
  /** Whether an event is about a client's browser-level session. Chromium also sends such events to Playwright. */
  const concernsClient = ({ method, sessionId, params = {} }: DevtoolsMessage): boolean => {
    if (sessionId !== undefined) return browserSessions.has(sessionId);
    if (method === "Target.detachedFromTarget") return browserSessions.has(String(params.sessionId));
    const { type } = (params.targetInfo ?? {}) as { type?: unknown };
    return method === "Target.attachedToTarget" && type === "browser";
  };

  /** Opens a browser-level session. If the answer comes too late, closes the session again. @returns its id. */
  const attach = async (timeoutMs: number): Promise<string> => {
    let isLate = false;
    const attached = askBrowser("Target.attachToBrowserTarget", {}).then(({ sessionId }) => {
      browserSessions.add(String(sessionId));
      if (isLate) detach(String(sessionId));
      return String(sessionId);
    });
    try {
      return await withinTime(attached, timeoutMs, `the browser did not answer within ${timeoutMs} ms`);
    } catch (error) {
      isLate = true;
      throw error;
    }
  };
  // The answer is not awaited: Chromium handles commands in order, so the session no longer affects later commands.
  const detach = (sessionId: string) =>
    send(undefined, { method: "Target.detachFromTarget", params: { sessionId } }, () => {});

  readMessages(answers, { onMessage: receive, onEnd: close });
  commands.on("error", close);
  return {
    playwright: transport,
    async ready() {
      await askBrowser("Browser.getVersion", {});
    },
    async open(timeoutMs, { onEvent, onClose }) {
      const browserSessionId = await attach(timeoutMs);
      const closed = Promise.withResolvers<void>();
      const client: Client = {
        browserSessionId,
        onEvent,
        end() {
          if (!clients.delete(client)) return;
          for (const [id, { client: asker, onAnswer }] of pending) {
            if (asker !== client) continue;
            pending.delete(id);
            onAnswer(BROWSER_GONE);
          }
          for (const [id, owner] of clientOf) if (owner === client) clientOf.delete(id);
          closed.resolve();
          onClose();
        },
      };
      clients.add(client);
      clientOf.set(browserSessionId, client);
      const sendAsClient: DevtoolsConnection["send"] = (command, onAnswer) => {
        if (clients.has(client)) send(client, { sessionId: browserSessionId, ...command }, onAnswer);
        else onAnswer(BROWSER_GONE);
      };
      return {
        send: sendAsClient,
        ask: createAsk(sendAsClient),
        isOpen: () => clients.has(client),
        terminate() {
          if (!clients.has(client)) return;
          detach(browserSessionId);
          client.end();
        },
        closed: closed.promise,
      };
    },
  };
}

/**
 * Removes the browser-level session id from a message, so that the client gets the message as on a connection of its
 * own.
 */
function withoutBrowserSession({ browserSessionId }: Client, message: DevtoolsMessage): DevtoolsMessage {
  if (message.sessionId !== browserSessionId) return message;
  const { sessionId: _, ...rest } = message;
  return rest;
}

/** Reads the session id of an event without parsing the event. Chromium writes the id at the end. */
const readLastSessionId = (data: Buffer): string =>
  /"sessionId":"([^"]+)"\}$/.exec(data.toString("latin1", data.byteLength - 100))?.[1] ?? "";

/** Reads the method of an event without parsing the event. Chromium writes the method at the start. */
const readMethod = (data: Buffer): string =>
  /^\{"method":"([^"]+)"/.exec(data.toString("latin1", 0, 100))?.[1] ?? "";

/** Splits a stream into messages at zero bytes. Ends the stream at a message that is larger than the limit. */
function readMessages(
  stream: Readable,
  { onMessage, onEnd }: { onMessage: (data: Buffer) => void; onEnd: () => void },
): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const end = () => {
    stream.destroy();
    onEnd();
  };
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(END_OF_MESSAGE); at !== -1; at = chunk.indexOf(END_OF_MESSAGE, start)) {
      const data = Buffer.concat([...parts, chunk.subarray(start, at)]);
      parts = [];
      bytes = 0;
      start = at + 1;
      onMessage(data);
    }
    if (start === chunk.length) return;
    parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > BROWSER_BYTES_MAX) end();
  });
  stream.on("error", end);
  stream.on("close", end);
}
