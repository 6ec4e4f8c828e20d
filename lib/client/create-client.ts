import {
  type AnswerOf,
  type CallOptions,
  type Connection,
  callOperation,
  type InputOf,
  type OperationName,
} from "./call-operation.ts";
import { type FollowOptions, followEvents, type RequestRef, type StreamEvent } from "./follow-events.ts";
import { type LiveOptions, type LiveSession, openLive } from "./open-live.ts";
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
  /** Another `fetch`: with a proxy, with retries, for tests. */
  fetch?: typeof fetch | undefined;
};

/** A call of every operation, by its name in the reference. Parameters of path and query stand beside `body`. */
type OperationCalls = {
  [Name in OperationName]: Record<never, never> extends InputOf<Name>
    ? (input?: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>
    : (input: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>;
};

/** The service, as a program uses it. Every refusal is thrown as an `ApiError`. */
export type Client = {
  /** Creates a session and starts its first turn. */
  createSession: (session: CreateSession, options?: CallOptions) => Promise<SessionCreated>;
  /** Reads how a request stands. */
  getStatus: (request: RequestRef, options?: CallOptions) => Promise<RequestStatus>;
  getAgentStatus: (sessionId: string, options?: CallOptions) => Promise<AgentStatus>;
  /** Says more to the agent: a text, or a whole follow-up. */
  sendMessage: (
    sessionId: string,
    message: string | FollowUp,
    options?: CallOptions,
  ) => Promise<FollowUpAccepted>;
  /** Stops the running turn. */
  cancel: (sessionId: string, options?: CallOptions) => Promise<TurnStopped>;
  getBrowser: (sessionId: string, options?: CallOptions) => Promise<BrowserStatus>;
  /** Sends the live browser elsewhere. */
  retargetBrowser: (sessionId: string, url: string, options?: CallOptions) => Promise<RetargetAccepted>;
  /** Waits until a request is completed. */
  waitForRequest: (request: RequestRef, options?: WaitOptions) => Promise<RequestStatus>;
  /**
   * Waits for the typed result of a request's turn, or of the session's newest run where only the session is named. The
   * service has checked it against the `outputSchema`; `Value` is the caller's word for that.
   */
  waitForDeliverable: <Value = unknown>(
    request: { sessionId: string; requestId?: string | undefined },
    options?: WaitOptions,
  ) => Promise<Value>;
  /** Follows a request's events until its last, over broken connections too. */
  events: (request: RequestRef, options?: FollowOptions) => AsyncGenerator<StreamEvent, void, undefined>;
  /** Opens the session's socket: events, and the live view. */
  live: (sessionId: string, options: LiveOptions) => LiveSession;
  /** Every operation of the reference. */
  api: OperationCalls;
};

/** Makes a client. Nothing is sent before the first call. */
export function createClient({ baseUrl, apiKey, fetch: own }: ClientOptions): Client {
  const connection: Connection = { baseUrl, apiKey, fetch: own ?? ((...call) => fetch(...call)) };
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
    // The service keeps its word about the schema; which type that is only the caller knows.
    waitForDeliverable: <Value>(
      request: { sessionId: string; requestId?: string | undefined },
      options?: WaitOptions,
    ) => waitForDeliverable(connection, request, options) as Promise<Value>,
    events: (request, options) => followEvents(connection, request, options),
    live: (sessionId, options) => openLive(connection, sessionId, options),
    // One entry for each name.
    api: api as OperationCalls,
  };
}
