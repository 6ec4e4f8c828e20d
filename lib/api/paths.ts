/** Paths of the interface, as answers carry them. Source: specification, Endpoints. */
export const statusPath = (sessionId: string, requestId: string): string =>
  `/api/sessions/${sessionId}/requests/${requestId}`;
export const streamPath = (sessionId: string, requestId: string): string =>
  `${statusPath(sessionId, requestId)}/stream`;
export const browserPath = (sessionId: string): string => `/api/sessions/${sessionId}/browser`;

/** Whether an id has the shape of a session's. Kept free of Node's modules: Next's routes ask it too. */
export const isRoutedSessionId = (sessionId: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(sessionId);
