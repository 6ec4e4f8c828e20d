/** Path of a request's status. Source of these paths: specification, Endpoints. */
export const statusPath = (sessionId: string, requestId: string): string =>
  `/api/sessions/${sessionId}/requests/${requestId}`;
/** Path of a request's event stream. */
export const streamPath = (sessionId: string, requestId: string): string =>
  `${statusPath(sessionId, requestId)}/stream`;
/** Path of a session's browser status and of its retargets. */
export const browserPath = (sessionId: string): string => `/api/sessions/${sessionId}/browser`;

/** Whether an id matches the session id pattern. Next's routes call this, so this file imports no Node modules. */
export const isRoutedSessionId = (sessionId: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(sessionId);

/** Methods that every path handles. A method without an operation is answered with the contract's 405. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
