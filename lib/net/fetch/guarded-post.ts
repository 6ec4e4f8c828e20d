import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { type AddressRule, hostAndPort } from "../address/address-rule.ts";
import { createCheckedLookup } from "./checked-lookup.ts";
import { type FetchPurpose, refuseUrl } from "./guarded-fetch.ts";
import { GuardedFetchError, toGuardedFetchError } from "./guarded-fetch-error.ts";

type GuardedPostInit = {
  headers: Record<string, string>;
  body: Uint8Array;
  /** Deadline in milliseconds for the status, counted from the call. */
  timeoutMs: number;
  /** Maximum number of bytes that are read from the body of the answer. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
  purpose: FetchPurpose;
};

/**
 * The answer to a post. `body` is the beginning of the body as it was sent, possibly compressed. It may be incomplete or
 * empty, because problems with a body are ignored once the status has arrived.
 */
export type PostAnswer = { status: number; headers: IncomingHttpHeaders; body: Uint8Array };

/** Posts a body and returns the status of the answer. It rejects only with a GuardedFetchError. */
export type GuardedPost = {
  (url: string, init: GuardedPostInit): Promise<PostAnswer>;
  /** Closes all connections. */
  close(): void;
};

/** An unused connection is closed after this time. */
const IDLE_CONNECTION_MS = 4_000;
const IDLE_CONNECTIONS_PER_HOST_MAX = 32;
/** After the status has arrived, the body is read for at most this long. */
const BODY_TIMEOUT_MS = 1_000;
/** Maximum number of informational answers (1xx) before the status. */
const INFORMATIONAL_MAX = 20;

/**
 * Creates a post that is judged only by the status of its answer, for webhooks. Answers that a strict client rejects are
 * accepted: an unrequested `100 Continue`, or a body that is cut off, that never ends, or that does not match its
 * headers. If a reused connection is closed before the first byte of the answer, the request is sent again on a new
 * connection: the server had probably closed the connection before the request arrived. Addresses are checked before
 * connecting, as in the guarded fetch; redirects are not followed. Source: `security.md`, What leaves the service.
 */
export function createGuardedPost(
  rule: AddressRule,
  { onRefused }: { onRefused?: (refusal: NetworkRefusal) => void } = {},
): GuardedPost {
  const pool = {
    keepAlive: true,
    timeout: IDLE_CONNECTION_MS,
    maxFreeSockets: IDLE_CONNECTIONS_PER_HOST_MAX,
  };
  const agents = {
    "http:": closeOnStrayData(new http.Agent(pool)),
    "https:": closeOnStrayData(new https.Agent(pool)),
  };

  async function guardedPost(address: string, init: GuardedPostInit): Promise<PostAnswer> {
    const { timeoutMs, signal: stop } = init;
    let host = "the server";
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = stop ? AbortSignal.any([deadline, stop]) : deadline;
    try {
      const url = URL.parse(address);
      if (url === null) throw new GuardedFetchError("refused", "the URL is not valid");
      host = url.host;
      refuseUrl(rule, url, ["http:", "https:"]);
      signal.throwIfAborted();
      const lookup = createCheckedLookup(rule, hostAndPort(url).port);
      const exchange = (agent: http.Agent | false) =>
        sendRequest(url, { method: "POST", headers: init.headers, agent, lookup, signal }, init);
      const answer = await exchange(agents[url.protocol === "https:" ? "https:" : "http:"]);
      return answer === "stale" ? await exchangeOnce(exchange) : answer;
    } catch (error) {
      const failure = stop?.aborted
        ? new GuardedFetchError("aborted", `the exchange with ${host} was cancelled`, { cause: stop.reason })
        : deadline.aborted
          ? new GuardedFetchError("timeout", `${host} did not answer within ${timeoutMs} ms`)
          : toGuardedFetchError(error, host);
      if (failure.kind === "refused") onRefused?.({ ...init.purpose, host, reason: failure.message });
      throw failure;
    }
  }

  return Object.assign(guardedPost, {
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  });
}

/** Makes the exchange on a connection of its own. */
async function exchangeOnce(exchange: (agent: false) => Promise<PostAnswer | "stale">): Promise<PostAnswer> {
  const answer = await exchange(false);
  if (answer === "stale") throw new Error("a new connection was reported as a reused one");
  return answer;
}

/**
 * Sends a request and returns its answer; "stale" if the server closed a reused connection before it sent a byte of the
 * answer.
 */
function sendRequest(
  url: URL,
  options: RequestOptions,
  { body, maxBytes }: Pick<GuardedPostInit, "body" | "maxBytes">,
): Promise<PostAnswer | "stale"> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer | "stale">();
  const request = (url.protocol === "https:" ? https : http).request(url, options);
  let informational = 0;
  let bytesReadBefore = 0;
  let hasResponse = false;
  request.on("socket", (socket) => {
    bytesReadBefore = socket.bytesRead;
  });
  request.on("information", () => {
    informational += 1;
    if (informational > INFORMATIONAL_MAX)
      request.destroy(new Error(`more than ${INFORMATIONAL_MAX} informational answers`));
  });
  request.on("upgrade", (answer, socket) => {
    socket.destroy();
    resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: new Uint8Array() });
  });
  request.on("response", (answer) => {
    hasResponse = true;
    void readStart(answer, maxBytes).then((start) => {
      // An incomplete answer leaves its connection in an unknown state, so the connection is not reused.
      if (!answer.complete) request.destroy();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: start });
    });
  });
  request.on("error", (error) => {
    // An error that follows the status, for example an invalid chunk, ends only the body.
    if (hasResponse) return;
    const isUnanswered = (request.socket?.bytesRead ?? 0) === bytesReadBefore;
    if (request.reusedSocket && isUnanswered && isClosed(error)) resolve("stale");
    else reject(error);
  });
  request.end(body);
  return promise;
}

const isClosed = (error: Error): boolean =>
  "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** Reads the body until its end, an error, the limit, or the time limit. Never rejects. */
async function readStart(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let length = 0;
  answer.on("data", (chunk: Buffer) => {
    if (length >= maxBytes) return;
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) resolve();
  });
  for (const end of ["end", "error", "close"]) answer.on(end, () => resolve());
  await createDeadline({ ms: BODY_TIMEOUT_MS }).settles(promise);
  return Buffer.concat(chunks, length).subarray(0, maxBytes);
}

/**
 * Closes unused connections of an agent on which data arrives, for example the body of a 204. The data would otherwise
 * be read as the answer to the next request.
 */
function closeOnStrayData<A extends http.Agent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  function close(this: Socket): void {
    this.destroy();
  }
  agent.keepSocketAlive = (socket) => {
    (socket as Socket).on("data", close);
    return keep(socket);
  };
  agent.reuseSocket = (socket, request) => {
    (socket as Socket).off("data", close);
    reuse(socket, request);
  };
  return agent;
}
