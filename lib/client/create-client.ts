import {
  type AnswerOf,
  type CallOptions,
  type Connection,
  callOperation,
  type InputOf,
  type OperationName,
} from "./call-operation.ts";
import { connectLive, type LiveOptions, type LiveSession } from "./connect-live.ts";
import { type FollowOptions, followEvents, type RequestRef, type StreamEvent } from "./follow-events.ts";
import { type WaitOptions, waitForDeliverable, waitForRequest } from "./wait-for.ts";
import {
  type AgentStatus,
  type BrowserStatus,
  type CreateSession,
  type FollowUp,
  type FollowUpAccepted,
  OPERATIONS,
  type RequestStatus,
  type RetargetAccepted,
  type SessionCreated,
  type TurnStopped,
} from "./wire.ts";

export type ClientOptions = {
  /** The service's address, such as `http://127.0.0.1:3000`. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** A replacement for the global `fetch`, for example one that uses a proxy, retries requests, or is a test double. */
  fetch?: typeof fetch | undefined;
};

/**
 * One function for each operation. The functions have the names of the operations in the API reference. Their input has
 * the path and query parameters as fields next to `body`.
 */
type OperationCalls = {
  [Name in OperationName]: Record<never, never> extends InputOf<Name>
    ? (input?: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>
    : (input: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>;
};

/** A client of the service. Its functions throw an `ApiError` if the service refuses a call. */
export type Client = {
  /** Creates a session and starts its first turn. */
  createSession: (session: CreateSession, options?: CallOptions) => Promise<SessionCreated>;
  /** Reads the status of a request. */
  getStatus: (request: RequestRef, options?: CallOptions) => Promise<RequestStatus>;
  getAgentStatus: (sessionId: string, options?: CallOptions) => Promise<AgentStatus>;
  /** Sends the agent a message. A string is the text of the message; an object is the whole body of the follow-up. */
  sendMessage: (
    sessionId: string,
    message: string | FollowUp,
    options?: CallOptions,
  ) => Promise<FollowUpAccepted>;
  /** Stops the running turn. */
  cancel: (sessionId: string, options?: CallOptions) => Promise<TurnStopped>;
  getBrowser: (sessionId: string, options?: CallOptions) => Promise<BrowserStatus>;
  /** Sends the live browser to another URL. */
  retargetBrowser: (sessionId: string, url: string, options?: CallOptions) => Promise<RetargetAccepted>;
  /** Waits until a request is completed. */
  waitForRequest: (request: RequestRef, options?: WaitOptions) => Promise<RequestStatus>;
  /**
   * Waits for the typed result of a request's turn. Without a request id, waits for the result of the session's newest
   * run. The service validates the result against the `outputSchema`; the client does not check
   * that the result has the type `Value`.
   */
  waitForDeliverable: <Value = unknown>(
    request: { sessionId: string; requestId?: string | undefined },
    options?: WaitOptions,
  ) => Promise<Value>;
  /** Streams the events of a request, up to and including the last one. Reconnects after a lost connection. */
  events: (request: RequestRef, options?: FollowOptions) => AsyncGenerator<StreamEvent, void, undefined>;
  /** Opens the session's socket, which carries the session's events and the live view. */
  live: (sessionId: string, options: LiveOptions) => LiveSession;
  /** All operations of the API reference, by name. */
  api: OperationCalls;
};

/** Creates a client. The client sends nothing before the first call. */
export function createClient({ baseUrl, apiKey, fetch: customFetch }: ClientOptions): Client {
  const connection: Connection = { baseUrl, apiKey, fetch: customFetch ?? ((...call) => fetch(...call)) };
  const call = <Name extends OperationName>(name: Name, input: InputOf<Name>, options?: CallOptions) =>
    callOperation(connection, name, input, options);
  const names = Object.keys(OPERATIONS) as OperationName[];
  const api = Object.fromEntries(
    names.map((name) => [
      name,
      (input: InputOf<typeof name> = {} as InputOf<typeof name>, options?: CallOptions) =>
        call(name, input, options),
    ]),
  );
  return {
    createSession: (body, options) => call("createSession", { body }, options),
    getStatus: ({ sessionId, requestId }, options) =>
      call("readRequestStatus", { sessionId, requestId }, options),
    getAgentStatus: (sessionId, options) => call("readAgentStatus", { sessionId }, options),
    sendMessage: (sessionId, message, options) =>
      call(
        "postMessage",
        { sessionId, body: typeof message === "string" ? { text: message } : message },
        options,
      ),
    cancel: (sessionId, options) => call("cancelTurn", { sessionId }, options),
    getBrowser: (sessionId, options) => call("readBrowser", { sessionId }, options),
    retargetBrowser: (sessionId, url, options) =>
      call("retargetBrowser", { sessionId, body: { url } }, options),
    waitForRequest: (request, options) => waitForRequest(connection, request, options),
    // The cast is needed because only the caller knows the type that the `outputSchema` describes.
    waitForDeliverable: <Value>(
      request: { sessionId: string; requestId?: string | undefined },
      options?: WaitOptions,
    ) => waitForDeliverable(connection, request, options) as Promise<Value>,
    events: (request, options) => followEvents(connection, request, options),
    live: (sessionId, options) => connectLive(connection, sessionId, options),
    // The cast holds because the object has one function for each operation name.
    api: api as OperationCalls,
  };
}
