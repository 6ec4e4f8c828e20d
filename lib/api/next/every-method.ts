import type { METHODS } from "../contract/paths.ts";

/** Exports one handler of a Next route for every method, so that Next itself answers none. */
export const forEveryMethod = <Handler>(handle: Handler): Record<(typeof METHODS)[number], Handler> => ({
  GET: handle,
  HEAD: handle,
  POST: handle,
  PUT: handle,
  PATCH: handle,
  DELETE: handle,
  OPTIONS: handle,
});
