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
  /** The transport that Playwright connects to. Only one client can use it. */
  playwright: ConnectOverCDPTransport;
  /** Called with an unexpected error of the service while it handles a message. The owner then ends the browser. */
  onError: ((error: unknown) => void) | undefined;
  /** Opens a further connection. @throws Error when the browser cannot be reached. */
  open: (timeoutMs: number, handlers: DevtoolsHandlers) => Promise<DevtoolsConnection>;
  /**
   * Creates a page that Playwright does not see, in a context of the browser. It ends with the connection. Undefined if
   * this is not possible. @returns the id of the page's target.
   */
  createHidden?: (connection: DevtoolsConnection, browserContextId: string) => Promise<string>;
};

/**
 * Size in bytes above which a message for a connection other than Playwright's is not parsed. The largest picture that a
 * tool stores is smaller, even as base64.
 */
export const MESSAGE_BYTES_MAX = 12 * 2 ** 20;
/** Size in bytes above which no message is kept in memory, not even for Playwright. */
export const KEPT_BYTES_MAX = 32 * 2 ** 20;
/** Largest message that is received, in bytes. A larger message ends the connection. */
export const BROWSER_BYTES_MAX = 256 * 2 ** 20;
/** How many bytes of commands may wait to be read by the browser. Above this limit, the browser counts as hung. */
export const UNREAD_BYTES_MAX = 64 * 2 ** 20;
/** DevTools' error code for a server error. */
export const SERVER_ERROR = -32000;

export const BROWSER_GONE: DevtoolsMessage = { error: { message: "The browser is gone." } };

/** How many commands of a connection other than Playwright's may be unanswered. */
export const UNANSWERED_MAX = 10_000;
export const TOO_MANY_UNANSWERED: DevtoolsMessage = {
  error: { code: SERVER_ERROR, message: `${UNANSWERED_MAX} commands are unanswered; wait for answers.` },
};

/** Returns the error that replaces a huge answer. Parsing such an answer would block the event loop. */
export const tooLarge = (id: number, bytesMax = MESSAGE_BYTES_MAX): DevtoolsMessage => ({
  id,
  error: {
    code: SERVER_ERROR,
    message: `The browser's answer is larger than ${bytesMax / 2 ** 20} MiB; ask for less.`,
  },
});

/** Reads the id of an answer without parsing it; undefined if the message is not an answer. */
export function readAnswerId(data: Buffer): number | undefined {
  const id = /^\{"id":(\d+)/.exec(data.toString("latin1", 0, 32))?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Reads the session id of a message without parsing it. Chromium writes the id at the end. */
export const readLastSessionId = (data: Buffer): string | undefined =>
  /"sessionId":"([^"]+)"\}$/.exec(data.toString("latin1", Math.max(0, data.byteLength - 100)))?.[1];

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
