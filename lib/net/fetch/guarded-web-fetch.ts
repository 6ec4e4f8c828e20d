import { fetch as undiciFetch } from "undici";
import type { AddressRule } from "../address/address-rule.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { refuseUrl } from "./guarded-fetch.ts";
import { GuardedFetchError, toGuardedFetchError } from "./guarded-fetch-error.ts";
import { isRedirect, nextHop, type RedirectHop } from "./redirect-hop.ts";

/**
 * A guarded replacement for `fetch` that streams bodies. Rejects with a GuardedFetchError, or with the reason of the
 * caller's signal if that signal is aborted.
 */
type GuardedWebFetch = typeof globalThis.fetch & {
  /** Closes all connections, including streams. Later calls fail. */
  close(): Promise<void>;
};

/** `timeoutMs` limits the time from the established connection to the response headers (default 30,000). */
type GuardedWebFetchOptions = { protocols: ("http:" | "https:")[]; timeoutMs?: number };

const REDIRECTS_MAX = 5;
const IDLE_BODY_TIMEOUT_MS = 300_000;

/**
 * Creates a `fetch` for libraries that accept one. Like the guarded fetch, it checks addresses before connecting.
 * Bodies are streamed without a size limit; a body is aborted by the caller's signal, or after five minutes without a
 * byte. Redirects to another origin are not followed, because the caller's headers may contain secrets for the first
 * origin. Source: `security.md`, What leaves the service.
 */
export function createGuardedWebFetch(rule: AddressRule, options: GuardedWebFetchOptions): GuardedWebFetch {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const agent = createGuardedAgent(rule, {
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: IDLE_BODY_TIMEOUT_MS,
  });

  async function send(hop: RedirectHop, signal: AbortSignal | null): Promise<Response> {
    refuseUrl(rule, hop.url, options.protocols);
    const answer = await undiciFetch(hop.url, {
      method: hop.method,
      headers: hop.headers,
      body: hop.body ?? null,
      redirect: "manual",
      signal,
      dispatcher: agent,
    });
    // Converts undici's response to the global `Response` class, because libraries check `instanceof Response`. The
    // body stream is not copied.
    const response = new Response(answer.body as ReadableStream<Uint8Array> | null, {
      status: answer.status,
      statusText: answer.statusText,
      headers: [...answer.headers],
    });
    return Object.defineProperty(response, "url", { value: hop.url.href });
  }

  async function guardedWebFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    // Takes the signal from the arguments, not from the Request that is created below: when that Request is
    // garbage-collected, its signal stops working.
    const signal = init.signal ?? (input instanceof Request ? input.signal : null);
    let host = "the server";
    try {
      const url = new URL(input instanceof Request ? input.url : input);
      host = url.host;
      refuseUrl(rule, url, options.protocols);
      let hop = await firstHop(new Request(input, init));
      for (let hops = 0; ; hops += 1) {
        const response = await send(hop, signal);
        if (!isRedirect(response.status) || init.redirect === "manual") return response;
        await response.body?.cancel();
        const next = sameOriginHop(hop, response);
        if (next === undefined || init.redirect === "error" || hops === REDIRECTS_MAX) {
          const sentence = `${host} answered with a redirect (${response.status}), which is not followed`;
          throw new GuardedFetchError("redirect", sentence, { status: response.status });
        }
        hop = next;
      }
    } catch (error) {
      // Throws the reason of the caller's signal, because libraries recognize their own cancellation by this reason.
      if (signal?.aborted) throw signal.reason;
      throw toGuardedFetchError(error, host);
    }
  }

  return Object.assign(guardedWebFetch, { close: () => agent.destroy() });
}

function sameOriginHop(hop: RedirectHop, response: Response): RedirectHop | undefined {
  const location = response.headers.get("location");
  const isSameOrigin = location !== null && URL.parse(location, hop.url)?.origin === hop.url.origin;
  return isSameOrigin ? nextHop(hop, response.status, location) : undefined;
}

async function firstHop(request: Request): Promise<RedirectHop> {
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return {
    url: new URL(request.url),
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body,
  };
}
