import { GuardedFetchError } from "./guarded-fetch-error.ts";

/** One request of a chain of redirects; header names are lower case. */
export type RedirectHop = {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
};

/** The only headers that another origin gets to see: whatever else the caller sent was meant for the first one. */
const HEADERS_FOR_OTHERS = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);

/** Tells whether a status sends the client elsewhere. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Works out the request that follows a redirect: the method changes as in the Fetch standard ("HTTP-redirect
 * fetch"), and another origin gets neither the caller's headers nor a body. Throws a GuardedFetchError of kind
 * "redirect" when the redirect has no usable location or would hand a body to another origin.
 */
export function nextHop(hop: RedirectHop, status: number, location: unknown): RedirectHop {
  const url = typeof location === "string" ? URL.parse(location, hop.url) : null;
  if (url === null) {
    throw new GuardedFetchError("redirect", `${hop.url.host} redirects to no valid location`, { status });
  }
  const becomesGet =
    (status === 303 && hop.method !== "HEAD") ||
    ((status === 301 || status === 302) && hop.method === "POST");
  const method = becomesGet ? "GET" : hop.method;
  const body = becomesGet ? undefined : hop.body;
  const isSameOrigin = url.origin === hop.url.origin;
  if (!isSameOrigin && body !== undefined) {
    throw new GuardedFetchError("redirect", `${hop.url.host} redirects a body to another origin`, { status });
  }
  const headers = Object.entries(hop.headers).filter(
    ([name]) =>
      (isSameOrigin || HEADERS_FOR_OTHERS.has(name)) &&
      name !== "host" &&
      !(becomesGet && name.startsWith("content-")),
  );
  return { url, method, headers: Object.fromEntries(headers), body };
}
