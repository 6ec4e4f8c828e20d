import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { readAnswerPath } from "#lib/api/answer-page/serve-answer-page.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { logInOperation } from "#lib/api/contract/operations/logins.ts";
import { isRoutedSessionId } from "#lib/api/contract/paths.ts";
import { readClientSubject } from "#lib/api/http/client-address.ts";
import { fail, failureResponse } from "#lib/api/http/errors.ts";
import { componentOf, failureOf } from "#lib/api/http/failure-of.ts";
import { isKnownCaller } from "#lib/api/http/known-caller.ts";
import { markLocalCaller } from "#lib/api/http/local-caller.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { isLoopbackHost } from "#lib/api/http/same-origin.ts";
import { type AnswerKind, answerKindOf, securityHeaders } from "#lib/api/http/security-headers.ts";
import type { Logger } from "#lib/log/logger.ts";
import { MCP_PATH } from "#lib/mcp-server/mcp-path.ts";
import type { PageServer } from "#lib/publication/landing/page-server.ts";
import type { ScriptServer } from "#lib/publication/script-server.ts";
import { withAddress } from "#lib/security-log/request-address.ts";
import { createHostCheck } from "./check-host.ts";
import { addressOf, connectionOf } from "./client-connection.ts";
import type { Container } from "./container.ts";
import type { Env } from "./env.ts";
import { isLoopbackPeer } from "./loopback-peer.ts";
import { createOwnPages, NO_PAGE } from "./own-pages.ts";
import { createPagePace, pageCost } from "./page-pace.ts";
import { renderReference } from "./reference/render-reference.ts";
import { createRefusalPace } from "./refusal-pace.ts";
import { servePages } from "./serve-pages.ts";
import { findScript, isNormalized, serveScript } from "./serve-script.ts";
import { createUnreadAnswers } from "./unread-answers.ts";
import { isEventStream, sendResponse, toWebRequest } from "./web-messages.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type ListenerDeps = {
  container: Pick<Container, "exchangeLinkForCookie" | "mounted"> & {
    services: { publishedScripts: Pick<ScriptServer, "answer">; servedPages: Pick<PageServer, "answer"> };
  };
  env: Env;
  /** Next's own handler. */
  handle: Handle;
  isDev: boolean;
  logger: Pick<Logger, "error">;
  /** Renders the API reference. */
  renderReference?: Parameters<typeof createOwnPages>[0]["renderReference"];
  /** How long a client may read nothing of a complete response. Default 60 s. */
  stalledMs?: number;
  refusals?: ReturnType<typeof createRefusalPace>;
};

const match = createPathMatcher(contract);

const FOREIGN_HOST = "Host: is not this service's";
const INVALID_HOST = "Host: must be sent once, as a host with or without a port, and agree with the address";
/** Headers that proxies and tunnels add: their presence means that the caller is on another machine. */
const FORWARDING_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

const STALLED_MS = 60_000;
/** Number of requests that a client may send on one connection before they are answered. Clients send one, or a few. */
const PIPELINED_MAX = 100;
/** How long a shutdown waits until clients have read the end of their event streams. */
const END_OF_STREAMS_MS = 1_000;

/**
 * Creates the handler of requests. It checks `Host`. It directly answers requests for operations, published scripts,
 * landing pages and MCP, and calls of the engine. It passes all other requests to Next. Before it passes a request on,
 * it exchanges the secret of a link for a cookie, and sets the security headers of pages. It does not contain the rules
 * of the HTTP API.
 */
export function createRequestListener({
  container,
  env,
  handle,
  isDev,
  logger,
  renderReference: render = () => renderReference(env.baseUrl),
  stalledMs = STALLED_MS,
  refusals = createRefusalPace(),
}: ListenerDeps) {
  /** The responses that are still open. */
  const open = new Set<ServerResponse>();
  /** How many of them each connection has. */
  const openOn = new WeakMap<Socket, number>();
  const streamsEnded = new AbortController();
  let isDraining = false;
  const checkHost = createHostCheck(env);
  const sendOwnPage = createOwnPages({
    handle,
    isDev,
    renderReference: render,
    embedOrigins: env.EMBED_ORIGINS,
  });
  const unread = createUnreadAnswers(stalledMs);
  const pace = createPagePace(isDev ? 0 : env.RATE_LIMIT_PAGES);
  const isHttps = env.baseUrl.startsWith("https:");
  const isLocalService = isLoopbackHost(new URL(env.baseUrl).hostname);
  const foreignHost = env.isLoopback ? FOREIGN_HOST : `${FOREIGN_HOST}; ALLOWED_HOSTS names further ones`;
  return { handleRequest, drain, endStreams };

  /** Answers one request; never rejects. */
  function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isDraining && request.url !== "/api/health") {
      setSecurityHeaders(response, "data");
      const isReadiness = request.url === "/api/ready";
      return sendResponse(response, isReadiness ? notReady() : refuseWhileStopping());
    }
    const { socket } = request;
    const openOfSocket = (openOn.get(socket) ?? 0) + 1;
    if (openOfSocket > PIPELINED_MAX) {
      socket.destroy();
      return Promise.resolve();
    }
    openOn.set(socket, openOfSocket);
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      openOn.set(socket, (openOn.get(socket) ?? 1) - 1);
    });
    unread.follow(response);
    return withAddress(addressOf(request, env), () => serve(request, response)).catch((error: unknown) => {
      logger.error(
        { err: error, path: request.url?.split("?")[0], ...componentOf(error) },
        "a request failed before it was answered",
      );
      // If the headers were already sent, the response is a stream, which has ended together with its connection.
      if (!response.headersSent) return sendResponse(response, failureResponse(failureOf(error)));
    });
  }

  /**
   * Refuses new requests with a 503, and waits for pending responses for up to `graceMs`: also for streams that answer a
   * call of a tool, but not for those that follow a request.
   */
  async function drain(graceMs: number): Promise<void> {
    isDraining = true;
    const isFollowed = (response: ServerResponse) => isStream(response) && response.req.method === "GET";
    await waitForClose(
      [...open].filter((response) => !isFollowed(response)),
      graceMs,
    );
  }

  /** Ends all event streams after a whole event. Their clients connect again and resume. */
  async function endStreams(): Promise<void> {
    streamsEnded.abort();
    await waitForClose([...open].filter(isStream), END_OF_STREAMS_MS);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const subject = readClientSubject(connectionOf(request), env.TRUST_PROXY) ?? "";
    const refuse = async (status: 400 | 421, error: string) => {
      await refusals.wait(subject, false, status);
      sendRefusal(response, status, error);
    };
    const host = checkHost(request);
    if (host === "invalid") {
      setSecurityHeaders(response, "data");
      return refuse(400, INVALID_HOST);
    }
    const pages = container.services.servedPages;
    if (host !== "foreign" && (await servePages({ env, pages }, request, response))) return;
    const url = URL.parse(request.url ?? "/", env.baseUrl);
    if (!url || !request.url?.startsWith("/") || !canDecode(url.pathname)) {
      setSecurityHeaders(response, "data");
      return refuse(400, "the request's address cannot be read");
    }
    const { pathname } = url;
    const route = findOperations(request, pathname);
    setSecurityHeaders(response, route ? "data" : answerKindOf(pathname));
    // `Host` names another site. The request may be part of a DNS rebinding attack.
    if (host === "foreign" && !isProbe(pathname)) return refuse(421, foreignHost);

    if (pathname === "/api/inngest") return serveEngine(request, response, url);
    const isPublic = route ? route.operations.GET === "readOpenApi" : pathname !== MCP_PATH;
    /** Sends the answer to a call. */
    const answer = async (handle: (webRequest: Request) => Response | Promise<Response>) => {
      const webRequest = toWebRequest(request, response, url);
      const answered = await handle(webRequest);
      await refusals.wait(subject, isKnownCaller(webRequest), answered.status);
      return sendResponse(response, answered, streamsEnded.signal);
    };
    if (isPublic) {
      const verdict = await pace.enter(subject, pageCost(pathname));
      if (!verdict.isAllowed) return sendResponse(response, refuseForNow(verdict.retrySeconds));
      // The client has left while the request waited.
      if (response.closed) return;
    }
    const linkAnswer =
      route || pathname === MCP_PATH
        ? undefined
        : await container.exchangeLinkForCookie({
            method: request.method ?? "GET",
            url,
            cookieHeader: request.headers.cookie ?? null,
            userAgent: request.headers["user-agent"] ?? null,
            client: connectionOf(request),
            isInFrame: request.headers["sec-fetch-dest"] === "iframe",
          });
    if (linkAnswer instanceof Response) return sendResponse(response, linkAnswer);

    if (readAnswerPath(pathname) !== undefined)
      return answer((webRequest) => container.mounted.serveAnswerPage(webRequest));
    if (pathname === MCP_PATH) return answer((webRequest) => container.mounted.serveMcp(webRequest));
    if (pathname === logInOperation.path && request.method === logInOperation.method)
      return answer((webRequest) => container.mounted.logIn(webRequest));
    const script = findScript(request, pathname);
    if (
      script !== undefined &&
      (await serveScript(container.services.publishedScripts, script, request, response))
    )
      return;
    // If the path of `retargetBrowser` contains an id that no session can have, the answer is the one for an unknown
    // path: Next's own 404. Source: specification, Errors, other rules, 1.
    const hasImpossibleId =
      route?.operations.POST === "retargetBrowser" && !isRoutedSessionId(route.params.sessionId ?? "");
    if (route && !hasImpossibleId) {
      return answer((webRequest) => {
        if (pathname === "/api/ready" && isLocalCall(request)) markLocalCaller(webRequest);
        return container.mounted.serve(route.operations, webRequest, route.params);
      });
    }
    if (linkAnswer === "unknown" || hasImpossibleId) request.url = NO_PAGE;
    return sendOwnPage(request, response, url);
  }

  function setSecurityHeaders(response: ServerResponse, kind: AnswerKind): void {
    for (const [name, value] of securityHeaders(kind, isHttps)) response.setHeader(name, value);
  }

  /** Whether the request may be a health check of a load balancer, which may use the machine's IP address as `Host`. */
  function isProbe(pathname: string): boolean {
    return !env.isLoopback && (pathname === "/api/health" || pathname === "/api/ready");
  }

  /** Whether a process on this machine sent the request directly to a local service, without a proxy or tunnel. */
  function isLocalCall({ headers, socket }: IncomingMessage): boolean {
    return (
      isLocalService &&
      isLoopbackPeer(socket.remoteAddress) &&
      !FORWARDING_HEADERS.some((name) => headers[name] !== undefined)
    );
  }

  async function serveEngine(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const serveWithEngine = container.mounted.serveEngine;
    if (!serveWithEngine) return sendRefusal(response, 404, "not found");
    const webRequest = toWebRequest(request, response, url);
    return sendResponse(response, await serveWithEngine(webRequest, request.socket.remoteAddress));
  }
}

/**
 * Returns the operations at a path. A path that would match only after normalization has no operations; Next handles
 * it.
 */
const findOperations = (request: IncomingMessage, pathname: string) =>
  isNormalized(request, pathname) ? match(pathname) : undefined;

const isStream = (response: ServerResponse): boolean => isEventStream(response.getHeader("content-type"));

/** Waits until the responses are closed, up to `ms`. */
async function waitForClose(responses: ServerResponse[], ms: number): Promise<void> {
  const deadline = AbortSignal.timeout(ms);
  await Promise.all(
    responses.map((response) => response.closed || once(response, "close", { signal: deadline })),
  ).catch((error: unknown) => {
    if (!deadline.aborted) throw error;
  });
}

const notReady = (): Response =>
  Response.json({ ok: false }, { status: 503, headers: { Connection: "close" } });

const refuseForNow = (seconds: number): Response =>
  failureResponse(
    fail("rate_limited", "this address loads too many pages; try again later", {
      "Retry-After": String(seconds),
      Connection: "close",
    }),
  );

/** Returns the response to a request that arrives while the service stops. */
export const refuseWhileStopping = (): Response =>
  failureResponse(
    fail("unavailable", "the service is stopping; try again", { "Retry-After": "1", Connection: "close" }),
  );

function canDecode(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

function sendRefusal(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ success: false, error, code: status === 404 ? "not_found" : "invalid_request" }),
  );
}
