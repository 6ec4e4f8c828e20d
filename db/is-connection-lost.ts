/** Postgres codes of a server that went away, is starting, or takes no more connections; and what the network says. */
const LOST =
  /^(08...|57P0[1-4]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** The drivers' own sentences, which come without a code. */
const LOST_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|timeout expired|WebSocket)/;

/** Whether a statement failed because the database was away: the same may succeed a moment later. */
export function isConnectionLost(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && LOST.test(at.code)) return true;
    // The socket of the embedded server is missing while the server restarts.
    if ("syscall" in at && at.syscall === "connect") return true;
    if (LOST_MESSAGE.test(at.message)) return true;
    if (at instanceof AggregateError && at.errors.some(isConnectionLost)) return true;
  }
  return false;
}
