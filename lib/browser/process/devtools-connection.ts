import type { ConnectOverCDPTransport } from "playwright";

/** One message of the DevTools protocol, in either direction. */
export type DevtoolsMessage = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { code?: number; message: string };
};

export type DevtoolsCommand = { method: string; params?: Record<string, unknown>; sessionId?: string };

/** A connection to a browser's DevTools. It passes each answer to the caller that has sent the command. */
export type DevtoolsConnection = {
  /** Sends a command. If the connection ends before the answer arrives, `onAnswer` gets an error. */
  send: (command: DevtoolsCommand, onAnswer: (answer: DevtoolsMessage) => void) => void;
  /**
   * Sends a command to the browser itself, not to a page, and returns the result. @throws Error with the browser's
   * message.
   */
  ask: (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;
  isOpen: () => boolean;
  terminate: () => void;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
};

/**
 * `onClose` is called once when the connection has ended, after `onAnswer` got an error for each unanswered command.
 */
type DevtoolsHandlers = { onEvent: (event: DevtoolsMessage) => void; onClose: () => void };

/** Access to a browser's DevTools. Each connection has its own attached targets and settings. */
export type Devtools = {
  /** The endpoint that Playwright connects to: a URL, or a transport that only one client can use. */
  playwright: string | ConnectOverCDPTransport;
  /** Opens a further connection. @throws Error when the browser cannot be reached. */
  open: (timeoutMs: number, handlers: DevtoolsHandlers) => Promise<DevtoolsConnection>;
};

/**
 * Size in bytes above which a message is not parsed, unless Playwright needs the message. The largest picture that a
 * tool stores is smaller, even as base64.
 */
export const MESSAGE_BYTES_MAX = 12 * 2 ** 20;
/** Largest message that is received, in bytes. A larger message ends the connection. */
export const BROWSER_BYTES_MAX = 256 * 2 ** 20;
/** DevTools' error code for a server error. */
export const SERVER_ERROR = -32000;

export const BROWSER_GONE: DevtoolsMessage = { error: { message: "The browser is gone." } };

/** Returns the error that replaces a huge answer. Parsing such an answer would block the event loop. */
export const tooLarge = (id: number): DevtoolsMessage => ({
  id,
  error: {
    code: SERVER_ERROR,
    message: `The browser's answer is larger than ${MESSAGE_BYTES_MAX / 2 ** 20} MiB; ask for less.`,
  },
});

/** Reads the id of an answer without parsing it; undefined if the message is not an answer. */
export function readAnswerId(data: Buffer): number | undefined {
  const id = /^\{"id":(\d+)/.exec(data.toString("latin1", 0, 32))?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Parses a message of the browser; undefined if it is not a JSON object. */
export function parseMessage(data: Buffer): DevtoolsMessage | undefined {
  try {
    const message: unknown = JSON.parse(data.toString());
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Creates the `ask` method of a connection from the connection's `send`. */
export const createAsk =
  (send: DevtoolsConnection["send"]): DevtoolsConnection["ask"] =>
  (method, params) =>
    new Promise((resolve, reject) => {
      send({ method, params }, (answer) =>
        answer.error ? reject(new Error(answer.error.message)) : resolve(answer.result ?? {}),
      );
    });
