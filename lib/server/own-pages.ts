import type { IncomingMessage, ServerResponse } from "node:http";
import { METHODS } from "#lib/api/contract/paths.ts";
import { PEER_HEADER } from "#lib/api/http/client-address.ts";
import { fail, failureResponse } from "#lib/api/http/errors.ts";
import { filterPageQuery, makePagePolicy } from "#lib/api/http/page-policy.ts";
import { isDemo } from "#lib/api/http/security-headers.ts";
import type { Reference } from "./reference/compose-reference.ts";
import { createReferencePage, REFERENCE_PATH } from "./reference/reference-page.ts";
import { sendResponse } from "./web-messages.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The path of a page that does not exist. Next answers it with the 404 page. */
export const NO_PAGE = "/_no-such-page";

const READ_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Creates the handler of all requests that Next answers: pages, their files, and unknown paths. Anybody can send such a
 * request, so each one must cost little: pages take no body and only the query that they read, and the API reference is
 * rendered once. Source: decision 063.
 *
 * @param deps.handle Next's own handler.
 * @param deps.renderReference renders the API reference.
 * @param deps.embedOrigins origins whose pages may show the pages of frames.
 */
export function createOwnPages(deps: {
  handle: Handle;
  renderReference: () => Promise<Reference>;
  embedOrigins: readonly string[];
  isDev: boolean;
}) {
  const { handle, isDev, embedOrigins } = deps;
  const sendReference = createReferencePage(deps.renderReference);

  return async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const { method = "", url: path = "" } = request;
    const isOwnPage = isPage(url.pathname) && path !== NO_PAGE;
    // In development, Next's own tools send other requests to paths of pages.
    const methods: readonly string[] = isOwnPage && !isDev ? READ_METHODS : METHODS;
    if (!methods.includes(method)) return sendResponse(response, refuseMethod(methods));
    const isReference = url.pathname === REFERENCE_PATH && method !== "OPTIONS";
    if (isReference && !isDev) return sendReference(request, response);
    request.headers[PEER_HEADER] = request.socket.remoteAddress;
    // No page has server actions. Next would read the body, and log an error for each request.
    delete request.headers["next-action"];
    if (isPage(url.pathname)) setPagePolicy(request, response, makePagePolicy(url, isDev, embedOrigins));
    if (isOwnPage && !isDemo(url.pathname) && !isDev)
      request.url = `${path.split("?", 1)[0]}${filterPageQuery(url.searchParams)}`;
    // The page lists links that contain secrets. With compression, the length of the response would leak them (BREACH).
    if (url.pathname === "/") delete request.headers["accept-encoding"];
    return handle(request, response);
  };
}

const isPage = (pathname: string) => !/^\/(_next|api|v)\//.test(pathname);

/**
 * Sets the content security policy of our pages. If the policy contains a nonce, Next reads the nonce from the
 * request's headers and adds it to its scripts.
 */
function setPagePolicy(
  request: IncomingMessage,
  response: ServerResponse,
  { policy, nonce }: ReturnType<typeof makePagePolicy>,
): void {
  if (nonce !== undefined) {
    request.headers["content-security-policy"] = policy;
    request.headers["x-nonce"] = nonce;
  }
  response.setHeader("Content-Security-Policy", policy);
}

/** Returns the response to a method that no page takes. Next would fail on an unknown method. */
const refuseMethod = (methods: readonly string[]): Response =>
  failureResponse(
    fail("method_not_allowed", `method: must be one of ${methods.join(", ")}`, { Allow: methods.join(", ") }),
  );
