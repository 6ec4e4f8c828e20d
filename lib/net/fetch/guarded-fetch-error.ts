const brand = Symbol.for("agent-session-service.GuardedFetchError");

/**
 * Why a guarded exchange failed: the guard refused it, the deadline passed, a redirect could not be followed, the body
 * exceeded its limit, the network failed, or the caller's signal fired.
 */
export type GuardedFetchFailure = "refused" | "timeout" | "redirect" | "too_large" | "network" | "aborted";

/** The error of the guarded fetch. The message is a sentence for people and contains no internal addresses. */
export class GuardedFetchError extends Error {
  readonly [brand] = true;
  readonly kind: GuardedFetchFailure;
  /**
   * The HTTP status that was received before the failure, such as the status of a redirect. Undefined if there was
   * none.
   */
  readonly status: number | undefined;

  constructor(
    kind: GuardedFetchFailure,
    sentence: string,
    details: { status?: number; cause?: unknown } = {},
  ) {
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "GuardedFetchError";
    this.kind = kind;
    this.status = details.status;
  }
}

/**
 * Whether an error is a GuardedFetchError. Checks the brand, because `instanceof` fails if the module is loaded twice.
 */
export function isGuardedFetchError(error: unknown): error is GuardedFetchError {
  return typeof error === "object" && error !== null && brand in error;
}

const TLS_CODE = /^(CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|ERR_SSL_)/;

/**
 * Converts any error of an exchange with `host` into a GuardedFetchError. If the chain of causes contains a
 * GuardedFetchError, that error is returned. Other errors are described by their code, because their messages may
 * contain internal addresses.
 */
export function toGuardedFetchError(error: unknown, host: string): GuardedFetchError {
  let code = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (isGuardedFetchError(at)) return at;
    const own = "code" in at && typeof at.code === "string" ? at.code : "";
    code ||= own === "ABORT_ERR" ? "" : own;
  }
  if (/TIMEOUT|ETIMEDOUT/.test(code)) {
    return new GuardedFetchError("timeout", `${host} did not answer in time`, { cause: error });
  }
  return new GuardedFetchError("network", sentence(host, code), { cause: error });
}

function sentence(host: string, code: string): string {
  if (code === "ECONNREFUSED") return `${host} refused the connection`;
  if (code === "ECONNRESET" || code === "UND_ERR_SOCKET" || code === "EPIPE")
    return `${host} closed the connection`;
  if (TLS_CODE.test(code)) return `no secure connection to ${host} could be made (${code})`;
  return `the exchange with ${host} failed${code === "" ? "" : ` (${code})`}`;
}
