import type { Dispatcher } from "undici";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type { AddressRule } from "../address/address-rule.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { GuardedFetchError, toGuardedFetchError } from "./guarded-fetch-error.ts";
import { ACCEPTED_ENCODINGS, readCappedBody } from "./read-capped-body.ts";
import { isRedirect, nextHop } from "./redirect-hop.ts";

export { GuardedFetchError, type GuardedFetchFailure, isGuardedFetchError } from "./guarded-fetch-error.ts";

/** Default settings of a guarded fetch, which each request can override. */
type GuardedFetchDefaults = {
  headers?: Record<string, string>;
  /** Deadline in milliseconds for the whole exchange, from the call to the last byte of the body. Default 10,000. */
  timeoutMs?: number;
  /** Size limit of the decompressed body. Default 1 MiB. */
  maxBytes?: number;
  /** "error" (default): a redirect fails the exchange. "follow": up to five redirects are checked and followed. */
  redirect?: "error" | "follow";
  /** Permitted schemes of the URL and of redirects. Default: http and https. */
  protocols?: ("http:" | "https:")[];
  /**
   * "error" (default): a body over the limit fails the exchange. "truncate": the body is cut and marked `truncated`.
   */
  overflow?: "error" | "truncate";
};

/** The source and the session of a request, which are reported if the request is refused. */
export type FetchPurpose = Pick<NetworkRefusal, "source" | "sessionId">;

/** The options of one request, which override the defaults. */
export type GuardedFetchInit = GuardedFetchDefaults & {
  method?: string;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  purpose?: FetchPurpose;
};

/**
 * A finished exchange. `url` is the URL that answered after all redirects, and `latencyMs` is the total time. `body` is
 * decompressed, except if its encoding is unknown or if it has several encodings.
 */
export type GuardedResponse = {
  status: number;
  headers: Headers;
  url: string;
  body: Uint8Array;
  truncated: boolean;
  latencyMs: number;
};

/** The fetch for all URLs that callers supply. It rejects only with a GuardedFetchError. */
export type GuardedFetch = {
  (url: string | URL, init?: GuardedFetchInit): Promise<GuardedResponse>;
  /** Closes all connections. Later calls fail. */
  close(): Promise<void>;
};

const redirectsMax = 5;
const BODY_BYTES_MAX = 1_048_576;

/**
 * Creates a guarded fetch with its own connection pool. The fetch accepts only http(s) URLs without credentials, checks
 * every address before connecting, limits the time of the exchange and the size of the body, and refuses or checks
 * redirects. Source: `security.md`, What leaves the service.
 */
export function createGuardedFetch(
  rule: AddressRule,
  defaults: GuardedFetchDefaults & { onRefused?: (refusal: NetworkRefusal) => void } = {},
): GuardedFetch {
  const agent = createGuardedAgent(rule, { headersTimeoutMs: 0, bodyTimeoutMs: 0 });

  async function guardedFetch(url: string | URL, init: GuardedFetchInit = {}): Promise<GuardedResponse> {
    const startedAt = performance.now();
    const settings = withDefaults(defaults, init);
    const deadline = startDeadline(settings.timeoutMs, init.signal);
    let host = "the server";
    try {
      let hop = { url: parseUrl(url), method: settings.method, headers: settings.headers, body: init.body };
      for (let hops = 0; ; hops += 1) {
        host = hop.url.host;
        refuseUrl(rule, hop.url, settings.protocols);
        deadline.signal.throwIfAborted();
        const answer = await agent.request({
          origin: hop.url.origin,
          path: hop.url.pathname + hop.url.search,
          method: hop.method as Dispatcher.HttpMethod,
          headers: hop.headers,
          body: hop.body ?? null,
          signal: deadline.signal,
        });
        if (isRedirect(answer.statusCode)) {
          // Discards the body of a redirect. It is not needed, and a hostile server could send it endlessly.
          answer.body.on("error", () => {}).destroy();
          if (settings.redirect === "error" || hops === redirectsMax) {
            throw refusedRedirect(host, answer.statusCode, settings.redirect === "follow");
          }
          hop = nextHop(hop, answer.statusCode, answer.headers.location);
          continue;
        }
        return { ...(await readAnswer(answer, hop.url, settings)), latencyMs: performance.now() - startedAt };
      }
    } catch (error) {
      const failure = deadline.explain(host) ?? toGuardedFetchError(error, host);
      if (failure.kind === "refused")
        defaults.onRefused?.({ source: "service", ...init.purpose, host, reason: failure.message });
      throw failure;
    } finally {
      deadline.clear();
    }
  }

  return Object.assign(guardedFetch, { close: () => agent.destroy() });
}

type Settings = Required<GuardedFetchDefaults> & { method: string };

function withDefaults(defaults: GuardedFetchDefaults, init: GuardedFetchInit): Settings {
  const headers: Record<string, string> = { "accept-encoding": ACCEPTED_ENCODINGS };
  for (const source of [defaults.headers, init.headers]) {
    for (const [name, value] of Object.entries(source ?? {})) headers[name.toLowerCase()] = value;
  }
  return {
    headers,
    method: (init.method ?? "GET").toUpperCase(),
    timeoutMs: init.timeoutMs ?? defaults.timeoutMs ?? 10_000,
    maxBytes: init.maxBytes ?? defaults.maxBytes ?? BODY_BYTES_MAX,
    redirect: init.redirect ?? defaults.redirect ?? "error",
    protocols: init.protocols ?? defaults.protocols ?? ["http:", "https:"],
    overflow: init.overflow ?? defaults.overflow ?? "error",
  };
}

function parseUrl(url: string | URL): URL {
  const parsed = URL.parse(url);
  if (parsed === null) throw new GuardedFetchError("refused", "the URL is not valid");
  return parsed;
}

/** Throws a GuardedFetchError of kind "refused" if a URL can be refused without a DNS query. */
export function refuseUrl(rule: AddressRule, url: URL, protocols: readonly string[]): void {
  const isPermittedScheme = protocols.includes(url.protocol);
  const reason = isPermittedScheme
    ? rule.refuseLiteral(url)
    : `${url.protocol.slice(0, -1)} is not a permitted scheme (${protocols.map((p) => p.slice(0, -1)).join(", ")})`;
  if (reason !== undefined) throw new GuardedFetchError("refused", reason);
}

function refusedRedirect(host: string, status: number, follows: boolean): GuardedFetchError {
  const sentence = follows
    ? `more than ${redirectsMax} redirects, the last from ${host}`
    : `${host} answered with a redirect (${status}), which is not followed`;
  return new GuardedFetchError("redirect", sentence, { status });
}

async function readAnswer(answer: Dispatcher.ResponseData, url: URL, settings: Settings) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, each);
  }
  const hasBody = settings.method !== "HEAD" && answer.statusCode !== 204 && answer.statusCode !== 304;
  const encoding = hasBody ? (headers.get("content-encoding") ?? undefined) : undefined;
  const read = await readCappedBody(answer.body, encoding, settings.maxBytes);
  if (read.truncated && settings.overflow === "error") {
    const sentence = `the answer of ${url.host} is larger than ${settings.maxBytes} bytes`;
    throw new GuardedFetchError("too_large", sentence, { status: answer.statusCode });
  }
  if (read.decoded) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  const { bytes: body, truncated } = read;
  return { status: answer.statusCode, headers, url: url.href, body, truncated };
}

/** Combines the deadline and the caller's signal. If one of the two ended the exchange, `explain` returns the error. */
function startDeadline(timeoutMs: number, caller: AbortSignal | undefined) {
  const controller = new AbortController();
  let ended: "timeout" | "aborted" | undefined;
  const end = (by: "timeout" | "aborted") => {
    ended ??= by;
    controller.abort();
  };
  const onAbort = () => end("aborted");
  const timer = setTimeout(end, timeoutMs, "timeout");
  if (caller?.aborted) onAbort();
  else caller?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    explain(host: string): GuardedFetchError | undefined {
      if (ended === undefined) return undefined;
      const isTimeout = ended === "timeout";
      const sentence = isTimeout
        ? `${host} did not finish its answer within ${timeoutMs} ms`
        : `the exchange with ${host} was cancelled`;
      return new GuardedFetchError(ended, sentence, isTimeout ? {} : { cause: caller?.reason });
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    },
  };
}
