import { isGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";

/** A failure of a tool server. The message never quotes the server, because a quote could repeat secret headers. */
export class McpFailure extends Error {
  /**
   * Whether the server refused the request as it refuses requests of a session that it no longer knows, or of a revision
   * that it does not speak. If so, it has not run the call.
   */
  readonly isSessionLost: boolean;
  /** Whether it is certain that the call was not sent to the server. */
  readonly isUnsent: boolean;
  /** Whether the connection broke before the answer was complete. The server may have run the call. */
  readonly isBroken: boolean;
  /** Whether the server wants other credentials, whatever revision of the protocol it speaks. */
  readonly isUnauthorized: boolean;

  constructor(
    sentence: string,
    { isSessionLost = false, isUnsent = false, isBroken = false, isUnauthorized = false } = {},
  ) {
    super(sentence);
    this.name = "McpFailure";
    this.isSessionLost = isSessionLost;
    this.isUnsent = isUnsent;
    this.isBroken = isBroken;
    this.isUnauthorized = isUnauthorized;
  }
}

/** Thrown by a call if the service itself failed, for example to store a question. The caller repeats the call. */
export class ServiceError extends Error {
  constructor(cause: unknown) {
    super("the service failed during the call", { cause });
    this.name = "ServiceError";
  }
}

/**
 * The statuses with which servers answer a request of a session that they no longer know: 404 as the protocol says, and
 * 400 as many servers do.
 */
const LOST_STATUSES = [400, 404];

/** Why a request failed whose answer ended too early. */
export const BROKE_OFF = "the answer broke off";

/**
 * What failures on this side of the connection say: the first text is the SDK's. Servers use the same codes for other
 * errors, so the texts are compared.
 */
const TIMED_OUT = "MCP error -32001: Request timed out";
const CLOSED = ["Connection closed", BROKE_OFF].map((reason) => `MCP error -32000: ${reason}`);

/** Whether an error says that the connection ended before the answer was complete. */
export const isClosed = (error: unknown): boolean =>
  error instanceof Error && error.name === "McpError" && CLOSED.includes(error.message);

/** The error code with which a server refuses a revision of the protocol. */
export const UNSUPPORTED_REVISION = -32022;

/** What the error codes of the revision 2026-07-28 mean. */
const MEANINGS = new Map([
  [-32020, "the server says that the headers of the request do not fit its body"],
  [-32021, "the server needs a capability that this client does not have"],
  [UNSUPPORTED_REVISION, "the server does not speak a revision of the protocol that this client speaks"],
]);

/**
 * Reads the HTTP status of a response that a transport has reported as an error. The transport HTTP with SSE reports it
 * in its message only.
 */
export function readHttpStatus(error: Error): number | undefined {
  if (error.name === "McpError") return undefined;
  if ("status" in error && typeof error.status === "number") return error.status;
  if ("code" in error && typeof error.code === "number") return error.code;
  const [, status] = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(error.message) ?? [];
  return status === undefined ? undefined : Number(status);
}

const readCode = (error: Error): number | undefined =>
  error.name === "McpError" && "code" in error && typeof error.code === "number"
    ? error.code
    : readHttpStatus(error);

/**
 * Converts any error of an exchange with a tool server into a McpFailure. The message quotes neither the server's
 * answer nor the request.
 */
export function toMcpFailure(error: unknown): McpFailure {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof McpFailure) return at;
    if (isGuardedFetchError(at)) return new McpFailure(at.message, { isBroken: at.kind === "network" });
    if (at.name === "TimeoutError" || at.name === "AbortError")
      return new McpFailure("the server did not answer in time");
    if (at.name === "ZodError" || at.name === "$ZodError" || at instanceof SyntaxError)
      return new McpFailure("the server's answer is not what the protocol asks for");
    const code = readCode(at);
    if (code !== undefined)
      return new McpFailure(describeCode(at, code), {
        isBroken: isClosed(at),
        // The code of an `McpError` is a JSON-RPC code. In other errors, it is the status of the HTTP response.
        isSessionLost: at.name === "McpError" ? code === UNSUPPORTED_REVISION : LOST_STATUSES.includes(code),
      });
  }
  return new McpFailure("the exchange with the server failed");
}

function describeCode(error: Error, code: number): string {
  if (isClosed(error)) return "the server closed the connection";
  if (error.name === "McpError") {
    if (error.message === TIMED_OUT) return "the server did not answer in time";
    return MEANINGS.get(code) ?? `the server answered with error ${code}`;
  }
  if (code === -1) return "the server's answer has a content type that the protocol does not know";
  if (code >= 300 && code < 400)
    return `the server answered with a redirect (${code}), which is not followed`;
  return `the server answered with status ${code}`;
}
