/** Returns the path of a request's status. Source of the paths in this file: specification, Endpoints. */
export const statusPath = (sessionId: string, requestId: string): string =>
  `/api/sessions/${sessionId}/requests/${requestId}`;
/** Returns the path of a request's event stream. */
export const streamPath = (sessionId: string, requestId: string): string =>
  `${statusPath(sessionId, requestId)}/stream`;
/** Returns the path of a session's browser. GET reads the browser's status, POST navigates to another URL. */
export const browserPath = (sessionId: string): string => `/api/sessions/${sessionId}/browser`;

/**
 * Whether a text has the form of a session id. This file imports no Node modules, because Next bundles it into its
 * routes.
 */
export const isRoutedSessionId = (sessionId: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(sessionId);

/** The name of the parameter that stands for the whole rest of a path: the path of a file in a workspace. */
export const FILE_PATH = "filePath";

/**
 * Reads the path of a file from the rest of a URL's path. Each part is percent-decoded. Undefined if a part is empty.
 * @throws URIError if a part cannot be decoded.
 */
export const readFilePath = (parts: readonly string[]): string | undefined =>
  parts.length === 0 || parts.includes("") ? undefined : parts.map(decodeURIComponent).join("/");

/**
 * Methods that every path handles. The operation for GET also answers HEAD. If a path has no operation for a method,
 * the service answers 405, or 204 to OPTIONS.
 */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
