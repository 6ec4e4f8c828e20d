const KNOWN = new WeakSet<Request>();

/** Marks a request as sent with a valid credential: an API key, a login or a share link. */
export const markKnownCaller = (request: Request): void => void KNOWN.add(request);

/** Whether a request was sent with a valid credential. A credential that was not checked does not count. */
export const isKnownCaller = (request: Request): boolean => KNOWN.has(request);
