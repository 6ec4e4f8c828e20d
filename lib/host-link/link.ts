import { WebSocket } from "ws";
import type { Logger } from "#lib/log/logger.ts";
import {
  decodeMessage,
  encodeMessage,
  LinkEndedError,
  type LinkMessage,
  MESSAGE_BYTES_MAX,
  RemoteError,
  toSentError,
} from "./link-message.ts";

/** The calls that one end of a link answers: arguments, result, and the items that a call sends while it runs. */
export type LinkMethods = Record<string, { args: unknown; result: unknown; item?: unknown }>;

/** What a handler of a call gets in addition to the arguments. */
export type IncomingCall<Item> = {
  /** Fires when the caller cancels the call, or when the link ends. */
  signal: AbortSignal;
  /** Returns a signal that fires when the caller sends this name. */
  named: (name: string) => AbortSignal;
  /** Sends an item to the caller. @returns a promise that resolves when the item has left this process. */
  send: (item: Item) => Promise<void>;
  /** The link on which the call has arrived. It identifies the caller. */
  link: object;
};

/** The handlers of all calls that one end answers. */
export type LinkHandlers<Methods extends LinkMethods> = {
  [Name in keyof Methods]: (
    args: Methods[Name]["args"],
    call: IncomingCall<Methods[Name]["item"]>,
  ) => Promise<Methods[Name]["result"]>;
};

type CallOptions<Item> = {
  /** Cancels the call. The call then rejects with the signal's reason, unless it ends within a second by itself. */
  signal?: AbortSignal | undefined;
  /** Signals that the handler gets by name. */
  named?: Record<string, AbortSignal> | undefined;
  /** Gets the items that the call sends. */
  onItem?: ((item: Item) => void) | undefined;
};

/** One end of a connection. `Remote` are the calls that the other end answers. */
export type Link<Remote extends LinkMethods> = {
  /**
   * Calls the other end.
   * @throws RemoteError with the error of the handler; LinkEndedError if the link ends first; the signal's reason if the
   * call is cancelled.
   */
  call: <Name extends keyof Remote & string>(
    method: Name,
    args: Remote[Name]["args"],
    options?: CallOptions<Remote[Name]["item"]>,
  ) => Promise<Remote[Name]["result"]>;
  isOpen: () => boolean;
  /** Whether the other end answers a ping within this time. */
  answers: (withinMs: number) => Promise<boolean>;
  /** Resolves when the link has ended, with the reason. */
  ended: Promise<string>;
  close: (reason: string) => void;
};

const CALLS_MAX = 1_000;
/** How much may wait for an end that does not read. More ends the link. */
const BUFFERED_BYTES_MAX = 2 * MESSAGE_BYTES_MAX;
/** How often each end pings the other. A ping that is not answered before the next one ends the link. */
const PING_EVERY_MS = 5_000;
/** How long a cancelled call may take to end by itself. */
const CANCEL_GRACE_MS = 1_000;

type OutgoingCall = {
  settle: { resolve: (result: unknown) => void; reject: (error: unknown) => void };
  onItem: ((item: never) => void) | undefined;
  dispose: () => void;
};
type RunningCall = { controller: AbortController; named: Map<string, AbortController> };

type State = {
  socket: WebSocket;
  logger: Logger;
  handlers: Record<string, (args: unknown, call: IncomingCall<unknown>) => Promise<unknown>>;
  outgoing: Map<number, OutgoingCall>;
  incoming: Map<number, RunningCall>;
  lastId: number;
  link: object;
};

/** Creates the link of an open socket. */
export function createLink<Remote extends LinkMethods, Local extends LinkMethods>(
  socket: WebSocket,
  handlers: LinkHandlers<Local>,
  logger: Logger,
): Link<Remote> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const link: Link<Remote> = {
    call: async (method, args, options) => call(state, method, args, options ?? {}),
    isOpen: () => socket.readyState === WebSocket.OPEN,
    answers: (withinMs) => answers(socket, withinMs),
    ended,
    close: (reason) => socket.close(1000, reason),
  };
  const state: State = {
    socket,
    logger,
    // The casts are safe, because `receive` looks up handlers by the name in the message only.
    handlers: handlers as unknown as State["handlers"],
    outgoing: new Map(),
    incoming: new Map(),
    lastId: 0,
    link,
  };
  const stopPings = keepAlive(socket);
  socket.on("message", (data: Buffer) => receive(state, data));
  socket.on("error", (error) => logger.debug({ err: error }, "a link to a browser host failed"));
  socket.once("close", (_code, reason) => {
    stopPings();
    const text = reason.length > 0 ? reason.toString() : "the connection was lost";
    endCalls(state, text);
    end(text);
  });
  return link;
}

function call<Item>(
  state: State,
  method: string,
  args: unknown,
  { signal, named = {}, onItem }: CallOptions<Item>,
): Promise<unknown> {
  const { socket, outgoing } = state;
  if (signal?.aborted) return Promise.reject(signal.reason);
  if (socket.readyState !== WebSocket.OPEN)
    return Promise.reject(new LinkEndedError("The browser host cannot be reached."));
  if (outgoing.size >= CALLS_MAX)
    return Promise.reject(new Error(`more than ${CALLS_MAX} calls of the browser host are open`));
  const id = ++state.lastId;
  // Encoded first, so that arguments that cannot be sent leave no open call.
  const data = encode({ type: "call", id, method, args });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  let grace: NodeJS.Timeout | undefined;
  const listeners: (() => void)[] = [];
  const listen = (to: AbortSignal, onAbort: () => void) => {
    if (to.aborted) return onAbort();
    to.addEventListener("abort", onAbort, { once: true });
    listeners.push(() => to.removeEventListener("abort", onAbort));
  };
  outgoing.set(id, {
    settle: { resolve, reject },
    onItem,
    dispose() {
      clearTimeout(grace);
      outgoing.delete(id);
      for (const remove of listeners) remove();
    },
  });
  void write(state, data);
  if (signal)
    listen(signal, () => {
      send(state, { type: "cancel", id, reason: toSentError(signal.reason) });
      grace = setTimeout(() => settle(state, id, ({ reject }) => reject(signal.reason)), CANCEL_GRACE_MS);
    });
  for (const [name, each] of Object.entries(named))
    listen(each, () => send(state, { type: "signal", id, name }));
  return promise;
}

function settle(state: State, id: number, how: (settle: OutgoingCall["settle"]) => void): void {
  const open = state.outgoing.get(id);
  if (!open) return;
  open.dispose();
  how(open.settle);
}

function receive(state: State, data: Buffer): void {
  let message: LinkMessage;
  try {
    message = decodeMessage(data);
  } catch (error) {
    state.logger.warn({ err: error }, "a link got data that is no message");
    state.socket.terminate();
    return;
  }
  const { outgoing, incoming } = state;
  switch (message.type) {
    case "call":
      void answer(state, message);
      break;
    case "cancel":
      incoming.get(message.id)?.controller.abort(new RemoteError(message.reason));
      break;
    case "signal":
      namedController(incoming.get(message.id), message.name)?.abort();
      break;
    case "item":
      // The cast is safe: both ends have the same types, because their protocol versions are equal.
      outgoing.get(message.id)?.onItem?.(message.value as never);
      break;
    case "done":
      settle(state, message.id, ({ resolve }) => resolve(message.result));
      break;
    case "failed":
      settle(state, message.id, ({ reject }) => reject(new RemoteError(message.error)));
  }
}

/** Runs the handler of an incoming call, and sends its outcome. */
async function answer(state: State, { id, method, args }: LinkMessage & { type: "call" }): Promise<void> {
  const { handlers, incoming } = state;
  const fail = (error: unknown) => send(state, { type: "failed", id, error: toSentError(error) });
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (!handler) return fail(new Error(`there is no call ${method}`));
  if (incoming.size >= CALLS_MAX) return fail(new Error(`more than ${CALLS_MAX} calls are open`));
  const running: RunningCall = { controller: new AbortController(), named: new Map() };
  incoming.set(id, running);
  try {
    const result = await handler(args, {
      signal: running.controller.signal,
      named: (name) => namedController(running, name).signal,
      send: (value) => send(state, { type: "item", id, value }),
      link: state.link,
    });
    send(state, { type: "done", id, result });
  } catch (error) {
    fail(error);
  } finally {
    incoming.delete(id);
  }
}

function namedController(running: RunningCall, name: string): AbortController;
function namedController(running: RunningCall | undefined, name: string): AbortController | undefined;
function namedController(running: RunningCall | undefined, name: string): AbortController | undefined {
  const existing = running?.named.get(name);
  if (!running || existing) return existing;
  const controller = new AbortController();
  running.named.set(name, controller);
  return controller;
}

const send = (state: State, message: LinkMessage): Promise<void> => write(state, encode(message));

/** @throws Error if the message cannot be encoded or is too large. */
function encode(message: LinkMessage): Uint8Array {
  const data = encodeMessage(message);
  if (data.byteLength > MESSAGE_BYTES_MAX)
    throw new Error(
      `${Math.ceil(data.byteLength / 2 ** 20)} MiB are too much for one message to or from the browser host; at most ${MESSAGE_BYTES_MAX / 2 ** 20} MiB`,
    );
  return data;
}

/** Writes a message to the socket. Resolves when it is written, or when the link has ended. */
async function write({ socket, logger }: State, data: Uint8Array): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > BUFFERED_BYTES_MAX) {
    logger.warn({ bytes: socket.bufferedAmount }, "a link was ended, because the other end does not read");
    return socket.terminate();
  }
  await new Promise<void>((resolve) => socket.send(data, () => resolve()));
}

/** Ends all calls in both directions, because the link has ended. */
function endCalls(state: State, reason: string): void {
  const error = new LinkEndedError(`The connection to the browser host ended: ${reason}.`);
  for (const id of [...state.outgoing.keys()]) settle(state, id, ({ reject }) => reject(error));
  for (const { controller } of state.incoming.values()) controller.abort(error);
}

/** Pings the other end, and ends a connection on which no pong comes. @returns a function that stops this. */
function keepAlive(socket: WebSocket): () => void {
  let isAnswered = true;
  socket.on("pong", () => {
    isAnswered = true;
  });
  const timer = setInterval(() => {
    if (!isAnswered) return socket.terminate();
    isAnswered = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function answers(socket: WebSocket, withinMs: number): Promise<boolean> {
  if (socket.readyState !== WebSocket.OPEN) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onPong = () => resolve(true);
  const onClose = () => resolve(false);
  socket.on("pong", onPong).on("close", onClose);
  const timer = setTimeout(() => resolve(false), withinMs);
  socket.ping();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.off("pong", onPong).off("close", onClose);
  }
}
