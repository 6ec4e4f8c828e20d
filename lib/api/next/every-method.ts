import type { METHODS } from "../contract/paths.ts";

/**
 * Returns the handlers of a Next route: the same handler for every method. If a method had no handler, Next would
 * answer it without the service's headers and error envelope.
 */
export const forEveryMethod = <Handler>(handle: Handler): Record<(typeof METHODS)[number], Handler> => ({
  GET: handle,
  HEAD: handle,
  POST: handle,
  PUT: handle,
  PATCH: handle,
  DELETE: handle,
  OPTIONS: handle,
});
