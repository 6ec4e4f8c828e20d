/** Why the database cannot execute a statement at the moment, although the statement itself may be correct. */
export type Unavailability = "out of reach" | "disk full" | "read-only" | "overloaded";

/**
 * SQLSTATE classes and codes, and error codes of the operating system, with the reason that each of them indicates. The
 * first match counts. Source: PostgreSQL manual, Appendix A.
 */
const CODES: readonly [pattern: RegExp, reason: Unavailability][] = [
  [/^(08...|57P0[1-5])$/, "out of reach"],
  [/^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN)$/, "out of reach"],
  [/^(ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)$/, "out of reach"],
  [/^(53100|ENOSPC|EDQUOT)$/, "disk full"],
  [/^(25006|EROFS)$/, "read-only"],
  [/^(53...)$/, "overloaded"],
];

/** The drivers' own error messages, which have no code. */
const LOST_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|Query read timeout|timeout expired|WebSocket)/;

/** Returns why the database was unavailable, according to an error or its causes. Undefined for any other failure. */
export function findUnavailability(error: unknown): Unavailability | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? at.code : "";
    const [, reason] = CODES.find(([pattern]) => pattern.test(code)) ?? [];
    if (reason) return reason;
    // Connecting fails with ENOENT while the embedded server restarts, because its socket does not exist then.
    if ("syscall" in at && at.syscall === "connect") return "out of reach";
    if (LOST_MESSAGE.test(at.message)) return "out of reach";
    const inner = at instanceof AggregateError ? at.errors.map(findUnavailability).find(Boolean) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

/**
 * Whether a statement failed because its connection was lost or refused, or because the server was overloaded. The
 * statement may succeed on another connection.
 */
export const isConnectionLost = (error: unknown): boolean => {
  const reason = findUnavailability(error);
  return reason === "out of reach" || reason === "overloaded";
};
