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

/** A connection to a browser's DevTools that matches answers to commands. */
export type DevtoolsConnection = {
  /** Sends a command; `onAnswer` gets an error message when the connection ends first. */
  send: (command: DevtoolsCommand, onAnswer: (answer: DevtoolsMessage) => void) => void;
  /** Sends a command to the browser as a whole. @throws Error with the browser's message. */
  ask: (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;
  isOpen: () => boolean;
  terminate: () => void;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
};

/** `onClose` is called once when the connection has ended, after all open commands got an error. */
type DevtoolsHandlers = { onEvent: (event: DevtoolsMessage) => void; onClose: () => void };

/** The ways to a browser's DevTools. Connections do not see each other's targets and settings. */
export type Devtools = {
  /** What Playwright connects to: a URL, or its only transport. */
  playwright: string | ConnectOverCDPTransport;
  /** Opens a further connection. @throws Error when the browser cannot be reached. */
  open: (timeoutMs: number, handlers: DevtoolsHandlers) => Promise<DevtoolsConnection>;
};

/** Fits a picture of the largest size that a tool keeps, as base64; a larger answer could not become a result. */
export const MESSAGE_BYTES_MAX = 12 * 2 ** 20;
/** A browser that sends a larger message than this is given up. */
export const BROWSER_BYTES_MAX = 256 * 2 ** 20;
/** DevTools' own code for a server error. */
export const SERVER_ERROR = -32000;

export const BROWSER_GONE: DevtoolsMessage = { error: { message: "The browser is gone." } };

/** Parsing a huge answer would block the event loop: it is replaced by this error. */
export const tooLarge = (id: number): DevtoolsMessage => ({
  id,
  error: {
    code: SERVER_ERROR,
    message: `The browser's answer is larger than ${MESSAGE_BYTES_MAX / 2 ** 20} MiB; ask for less.`,
  },
});

/** The id of an answer that is not parsed. */
export function readAnswerId(data: Buffer): number | undefined {
  const id = /^\{"id":(\d+)/.exec(data.toString("latin1", 0, 32))?.[1];
  return id === undefined ? undefined : Number(id);
}

/** `ask` by means of `send`. */
export const asking =
  (send: DevtoolsConnection["send"]): DevtoolsConnection["ask"] =>
  (method, params) =>
    new Promise((resolve, reject) => {
      send({ method, params }, (answer) =>
        answer.error ? reject(new Error(answer.error.message)) : resolve(answer.result ?? {}),
      );
    });
