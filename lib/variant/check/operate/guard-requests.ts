import type { Request, Route } from "playwright";
import { DANGEROUS_LINK } from "#lib/injected/check/find-links.ts";
import type { PageLoad } from "../load/open-load.ts";

/** A request that a page began. `address` has neither query nor fragment. */
export type SeenRequest = {
  method: string;
  address: string;
  /** The whole address. */
  url: string;
  /** Names of the fields that were sent. */
  fields: string[];
  /** Whether the request would replace the page by another document. */
  isDocument: boolean;
};

/** Records and stops requests of a page while its controls are operated. */
export type RequestGuard = {
  /** Returns the requests since the last call, without repetitions. */
  drain: () => SeenRequest[];
};

const REQUESTS_MAX = 50;
const FIELDS_MAX = 50;
const BODY_CHARS_MAX = 64 * 1024;
const ADDRESS_MAX = 500;
const FOLLOWED = new Set(["document", "xhr", "fetch"]);
const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Stops the requests of a page that may have an effect on the server: those with other methods than GET, HEAD and
 * OPTIONS, and those whose address names an effect, such as logging out. The page sees a failed request. Documents are
 * never loaded either, so the page stays where it is.
 *
 * @param isAllowed whether the caller allows requests with effects. Documents are then sent as well.
 */
export async function guardRequests({ page }: PageLoad, isAllowed: boolean): Promise<RequestGuard> {
  const seen = new Map<string, SeenRequest>();
  const decide = async (route: Route) => {
    const request = route.request();
    const isDocument = request.isNavigationRequest() && request.frame() === page.mainFrame();
    const isReading = READING.has(request.method());
    if (FOLLOWED.has(request.resourceType()) && (isDocument || !request.isNavigationRequest()))
      remember(readRequest(request, isDocument));
    if (isDocument && isReading) return route.abort("aborted");
    const hasEffect =
      !isReading || (FOLLOWED.has(request.resourceType()) && DANGEROUS_LINK.test(request.url()));
    if (!hasEffect || isAllowed) return route.continue();
    return route.abort(isDocument ? "aborted" : "failed");
  };
  const remember = (request: SeenRequest) => {
    const key = `${request.method} ${request.address} ${request.fields}`;
    if (seen.size < REQUESTS_MAX) seen.set(key, request);
  };
  await page.route("**/*", (route) =>
    // A request can no longer be answered when its page is closed.
    decide(route).catch(() => {}),
  );
  return {
    drain() {
      const drained = [...seen.values()];
      seen.clear();
      return drained;
    },
  };
}

function readRequest(request: Request, isDocument: boolean): SeenRequest {
  const url = request.url();
  const address = url.replace(/[?#].*$/s, "").slice(0, ADDRESS_MAX);
  const fields = [...new Set([...readQuery(url), ...readBody(request)])].slice(0, FIELDS_MAX);
  return { method: request.method(), address, url: url.slice(0, 2_000), fields, isDocument };
}

const readQuery = (url: string): string[] => [...(URL.parse(url)?.searchParams.keys() ?? [])];

/** Lists the names of the fields of a form, or of the members of a JSON object. */
function readBody(request: Request): string[] {
  const body = request.postData()?.slice(0, BODY_CHARS_MAX) ?? "";
  const type = request.headers()["content-type"] ?? "";
  if (type.includes("multipart/form-data"))
    return [...body.matchAll(/^content-disposition: form-data; name="([^"\n]*)"/gim)].map(
      ([, name]) => name ?? "",
    );
  if (type.includes("application/x-www-form-urlencoded")) return [...new URLSearchParams(body).keys()];
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  } catch {
    return [];
  }
}
