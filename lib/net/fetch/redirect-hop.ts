import { GuardedFetchError } from "./guarded-fetch-error.ts";

/** One request in a chain of redirects. Header names are in lower case. */
export type RedirectHop = {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
};

/** The only headers that are also sent to another origin. Other headers may be meant for the first origin only. */
const CROSS_ORIGIN_HEADERS = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);

/** Whether a status is one of the redirects that a client follows. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Computes the request that follows a redirect. The method changes as in the Fetch standard ("HTTP-redirect fetch").
 * Another origin gets only the headers in `CROSS_ORIGIN_HEADERS`, and never a body. Throws a GuardedFetchError of kind
 * "redirect" if the location is invalid, or if a body would be sent to another origin.
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
      (isSameOrigin || CROSS_ORIGIN_HEADERS.has(name)) &&
      name !== "host" &&
      !(becomesGet && name.startsWith("content-")),
  );
  return { url, method, headers: Object.fromEntries(headers), body };
}
