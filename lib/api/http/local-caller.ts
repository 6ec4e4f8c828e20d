const LOCAL = new WeakSet<Request>();

/** Marks a request of a process on the service's own machine. Only our own server, which sees the connection, can. */
export const markLocalCaller = (request: Request): void => void LOCAL.add(request);

/** Whether a request comes from a process on the service's own machine. */
export const isLocalCaller = (request: Request): boolean => LOCAL.has(request);
