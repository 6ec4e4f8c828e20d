const LOCAL = new WeakSet<Request>();

/**
 * Marks a request as sent by a process on this machine. Only the HTTP server calls this function, because only the
 * server sees the connection.
 */
export const markLocalCaller = (request: Request): void => void LOCAL.add(request);

/** Whether a process on this machine sent the request. */
export const isLocalCaller = (request: Request): boolean => LOCAL.has(request);
