/** The browser of a session runs or starts at another host. A caller finds that host in the session's record. */
export class ElsewhereError extends Error {
  override name = "ElsewhereError";

  constructor(sessionId: string) {
    super(`another browser host has the browser of ${sessionId}`);
  }
}
