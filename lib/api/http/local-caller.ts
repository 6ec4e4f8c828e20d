const LOCAL = new WeakSet<Request>();

/** Marks a request from a process on the service's own machine. Only the HTTP server calls this: it sees the connection. */
export const markLocalCaller = (request: Request): void => void LOCAL.add(request);

/** Whether a request comes from a process on the service's own machine. */
export const isLocalCaller = (request: Request): boolean => LOCAL.has(request);
