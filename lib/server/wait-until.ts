type RequestContext = { waitUntil?: (work: Promise<unknown>) => void };
type Globals = { [REQUEST_CONTEXT]?: { get?: () => RequestContext | undefined } };

/** The global symbol under which the platform stores the context of the current request. */
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/**
 * Asks a serverless platform to keep this instance alive until the work is done, although the response to the current
 * request was sent. Has no effect elsewhere. Source: the declarations of `@vercel/functions`, `waitUntil`.
 */
export function waitUntil(work: Promise<unknown>): void {
  (globalThis as Globals)[REQUEST_CONTEXT]?.get?.()?.waitUntil?.(work);
}
