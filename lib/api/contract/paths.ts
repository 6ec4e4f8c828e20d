/** Where a request is polled. Source of these paths: specification, Endpoints. */
export const statusPath = (sessionId: string, requestId: string): string =>
  `/api/sessions/${sessionId}/requests/${requestId}`;
/** Where a request is followed. */
export const streamPath = (sessionId: string, requestId: string): string =>
  `${statusPath(sessionId, requestId)}/stream`;
/** Where a session's browser is read and retargeted. */
export const browserPath = (sessionId: string): string => `/api/sessions/${sessionId}/browser`;

/** Whether an id has the shape of a session's. Kept free of Node's modules: Next's routes ask it too. */
export const isRoutedSessionId = (sessionId: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(sessionId);

/** The methods that a path is answered for; those without an operation get the contract's own 405. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
