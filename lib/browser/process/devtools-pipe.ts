import type { Readable, Writable } from "node:stream";
import type { ConnectOverCDPTransport } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";
import {
  BROWSER_BYTES_MAX,
  BROWSER_GONE,
  createAsk,
  type Devtools,
  type DevtoolsCommand,
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
import { createHiddenTargets } from "./hidden-targets.ts";
import { createListenerGuard } from "./listener-guard.ts";
import { createPlaywrightGate } from "./playwright-gate.ts";
import { type MessageEnds, splitMessages } from "./split-messages.ts";
import { identityCommands, type VisitorIdentity } from "./visitor-identity.ts";

/** The DevTools of a browser that this process started. No other process can reach them. */
type DevtoolsPipe = Devtools & {
  /** Resolves when the browser answers. @throws Error when the browser ends before that. */
  ready: () => Promise<void>;
};

/** A client other than Playwright: a browser-level DevTools session, and the sessions that were opened through it. */
type Client = {
  browserSessionId: string;
  onEvent: (event: DevtoolsMessage) => void;
  /** Number of unanswered commands. */
  unanswered: number;
  /** Ends the connection, and answers its unanswered commands with an error. */
  end: () => void;
};

type Pending = { client: Client | undefined; onAnswer: (answer: DevtoolsMessage) => void };

/** Commands of this module have ids above this number. Playwright counts the ids of its commands from 1. */
const FIRST_ID = 1_000_000_000;
/**
 * Speaks DevTools over the two pipes of `--remote-debugging-pipe`: JSON messages that end with a zero byte. Chromium
 * accepts one client on the pipes, which is Playwright. Further connections are separate DevTools sessions on the same
 * pipes, with session ids of their own.
 *
 * @param identity given to every page, frame and worker before it runs: Playwright attaches to each of them.
 */
export function openDevtoolsPipe(
  commands: Writable,
  answers: Readable,
  identity?: VisitorIdentity,
): DevtoolsPipe {
  const pending = new Map<number, Pending>();
  /** The client of each DevTools session that is not Playwright's, by session id. */
  const clientOf = new Map<string, Client>();
  const clients = new Set<Client>();
  /** Ids of the browser-level sessions of all clients, also of ended ones. Playwright must not get their events. */
  const browserSessions = new Set<string>();
  let lastId = FIRST_ID;
  let isOpen = true;

  const gate = createPlaywrightGate();
  const guard = createListenerGuard((error) => {
    if (pipe.onError) pipe.onError(error);
    else close();
  });

  const write = (message: object) => {
    if (!isOpen) return;
    commands.write(`${JSON.stringify(message)}\0`);
    if (commands.writableLength > UNREAD_BYTES_MAX) close();
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
    if (client && client.unanswered >= UNANSWERED_MAX) return onAnswer(TOO_MANY_UNANSWERED);
    const id = ++lastId;
    pending.set(id, { client, onAnswer });
    if (client) client.unanswered += 1;
    write({ id, ...command });
  };
  const askBrowser = createAsk((command, onAnswer) => send(undefined, command, onAnswer));

  const receive = (data: Buffer) => {
    const isLarge = data.byteLength > MESSAGE_BYTES_MAX;
    if (isLarge && isForClient(data, data)) return receiveHuge({ head: data, tail: data });
    const mayConcernPlaywright = clients.size === 0 || !clientOf.has(readLastSessionId(data) ?? "");
    if (mayConcernPlaywright && !gate.admits(data)) return;
    const message = parseMessage(data);
    // Must not happen, because Chromium always writes JSON.
    if (!message) return close();
    if (message.id !== undefined && message.id > FIRST_ID) return receiveAnswer(message.id, message);
    const client = message.sessionId === undefined ? undefined : clientOf.get(message.sessionId);
    if (client) receiveEvent(client, message);
    else if (!concernsClient(message) && !identify(message))
      toPlaywright(gate.limit(message, data.byteLength));
  };
  /**
   * Gives the identity to a target to which Chromium has just attached Playwright.
   * @returns whether Playwright need not know: it would detach from the worker, which would end the identity.
   */
  const identify = ({ method, params = {}, sessionId: parent }: DevtoolsMessage): boolean => {
    if (!identity || method !== "Target.attachedToTarget") return false;
    const { type } = (params.targetInfo ?? {}) as { type?: unknown };
    // Playwright follows a service worker through its session with the browser, and not through those with pages.
    const isOurs = type === "shared_worker" || (type === "service_worker" && parent !== undefined);
    for (const command of identityCommands(identity, String(params.sessionId), isOurs))
      send(undefined, command, () => {});
    return isOurs;
  };
  // Each message gets its own task, so that Playwright has finished with the previous message. Otherwise Playwright
  // misses contexts that Chromium announces before Playwright listens for them.
  const deliver = (message: DevtoolsMessage) =>
    void setImmediate(guard(() => transport.onmessage?.(message)));
  // The answer is not awaited: Chromium handles commands in order, so the session no longer affects later commands.
  const detach = (sessionId: string) =>
    send(undefined, { method: "Target.detachFromTarget", params: { sessionId } }, () => {});
  const { pass: toPlaywright, create: createHidden } = createHiddenTargets(deliver, detach);
  const isForClient = (head: Buffer, tail: Buffer): boolean =>
    (readAnswerId(head) ?? 0) > FIRST_ID || clientOf.has(readLastSessionId(tail) ?? "");
  /** Handles a message that is too large to be parsed: replaces an answer by an error, and drops an event. */
  const receiveHuge = ({ head, tail }: MessageEnds) => {
    const id = readAnswerId(head);
    if (id === undefined) return;
    if (id > FIRST_ID) return receiveAnswer(id, tooLarge(id));
    const sessionId = readLastSessionId(tail);
    toPlaywright({ ...tooLarge(id, KEPT_BYTES_MAX), ...(sessionId !== undefined && { sessionId }) });
  };
  const receiveAnswer = (id: number, message: DevtoolsMessage) => {
    const command = pending.get(id);
    pending.delete(id);
    if (command?.client) command.client.unanswered -= 1;
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
      return await createDeadline({
        ms: timeoutMs,
        lateMessage: `the browser did not answer within ${timeoutMs} ms`,
      }).race(attached);
    } catch (error) {
      isLate = true;
      throw error;
    }
  };
  const limits = { keptBytesMax: KEPT_BYTES_MAX, bytesMax: BROWSER_BYTES_MAX };
  splitMessages(answers, limits, {
    onMessage: guard(receive),
    onHuge: guard(receiveHuge),
    onEnd: guard(close),
  });
  commands.on("error", guard(close));
  const pipe: DevtoolsPipe = {
    playwright: transport,
    onError: undefined,
    createHidden,
    async ready() {
      await askBrowser("Browser.getVersion", {});
    },
    async open(timeoutMs, { onEvent, onClose }) {
      const browserSessionId = await attach(timeoutMs);
      const closed = Promise.withResolvers<void>();
      const client: Client = {
        browserSessionId,
        onEvent,
        unanswered: 0,
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
  return pipe;
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
