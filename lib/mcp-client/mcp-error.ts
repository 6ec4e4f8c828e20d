import { isGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";

/** A failure of a tool server, told in a sentence of ours: what the server says itself could repeat its headers. */
export class McpFailure extends Error {
  /** The session that the server kept for us is gone: it has done nothing. */
  readonly isSessionLost: boolean;
  /** What was asked for was never sent. */
  readonly isUnsent: boolean;

  constructor(sentence: string, { isSessionLost = false, isUnsent = false } = {}) {
    super(sentence);
    this.name = "McpFailure";
    this.isSessionLost = isSessionLost;
    this.isUnsent = isUnsent;
  }
}

/** JSON-RPC codes that the SDK gives to failures of its own. */
const TIMED_OUT = -32_001;
const CLOSED = -32_000;

const readCode = (error: object): number | undefined =>
  "code" in error && typeof error.code === "number" ? error.code : undefined;

/**
 * Whatever an exchange with a tool server threw, as a sentence about "the server" that holds nothing of its answer or
 * of our request.
 */
export function toMcpFailure(error: unknown): McpFailure {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof McpFailure) return at;
    if (isGuardedFetchError(at)) return new McpFailure(at.message);
    if (at.name === "TimeoutError" || at.name === "AbortError")
      return new McpFailure("the server did not answer in time");
    if (at.name === "ZodError" || at.name === "$ZodError" || at instanceof SyntaxError)
      return new McpFailure("the server's answer is not what the protocol asks for");
    const code = readCode(at);
    if (code !== undefined)
      return new McpFailure(describeCode(at.name, code), { isSessionLost: code === 404 });
  }
  return new McpFailure("the exchange with the server failed");
}

function describeCode(name: string, code: number): string {
  if (name === "McpError") {
    if (code === TIMED_OUT) return "the server did not answer in time";
    if (code === CLOSED) return "the server closed the connection";
    return `the server answered with error ${code}`;
  }
  if (code === -1) return "the server's answer has a content type that the protocol does not know";
  if (code >= 300 && code < 400)
    return `the server answered with a redirect (${code}), which is not followed`;
  return `the server answered with status ${code}`;
}
