import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import { GuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { McpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { Fetch, McpServer } from "../tool-server.ts";
import { capBody } from "./cap-body.ts";
import { dropNulls } from "./drop-nulls.ts";
import { mapMessages } from "./map-messages.ts";

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** Callbacks for the end of the answer to a request, and for the end of a stream that a `GET` request opened. */
type AnswerWatch = {
  onAnswerEnd: (id: RequestId, about: { hasEventIds: boolean }) => void;
  onStreamEnd: () => void;
};

/** How long closing a connection waits for pending notifications, such as a cancellation. */
const NOTIFY_TIMEOUT_MS = 1_000;

/**
 * Creates the `fetch` for the transport to one server. It refuses other origins, limits the size of bodies, how often
 * the transport opens the server's event stream, and how many answers to the server's own requests are sent at once.
 * Nulls in the server's messages that stand for absent fields are removed. `settle` waits for notifications that are
 * still being sent.
 */
export function fetchOfServer(
  server: McpServer,
  limits: McpLimits,
  watch: AnswerWatch,
): { fetch: Fetch; flush: () => Promise<void> } {
  const { origin, host } = new URL(server.url);
  const notifications = new Set<Promise<unknown>>();
  /** The methods of the requests that were sent, by their ids. */
  const methods = new Map<unknown, string>();
  let streams = 0;

  const fetch: Fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // Refused, because the request carries the caller's headers, which may contain secrets that only this server may
    // see.
    if (url.origin !== origin)
      throw new GuardedFetchError("refused", `${host} sent us to another host, ${url.host}`);
    const isStream = (init.method ?? "GET") === "GET";
    // In the protocol, status 405 means that there is no stream, so the SDK stops reopening it.
    if (isStream && ++streams > limits.streamsMax) return new Response(null, { status: 405 });
    const message = readMessage(init.body);
    if (message === "notification" && notifications.size >= limits.notificationsMax)
      throw new GuardedFetchError("refused", `${host} makes too many requests at once`);
    if (typeof message === "object") methods.set(message.id, message.method);
    const sent = server.fetch(url, init);
    if (message === "notification") {
      notifications.add(sent);
      sent.catch(() => {}).finally(() => notifications.delete(sent));
    }
    const response = await sent;
    const wanted = response.status === 401 ? describeChallenge(response) : undefined;
    if (wanted !== undefined) {
      await response.body?.cancel();
      throw new McpFailure(wanted, { isUnauthorized: true });
    }
    const capped = capBody(response, {
      host,
      messageBytesMax: limits.messageBytesMax,
      bytesMax: isStream ? Number.POSITIVE_INFINITY : limits.exchangeBytesMax,
      onEnd(about) {
        if (isStream) watch.onStreamEnd();
        else if (message !== undefined && message !== "notification") watch.onAnswerEnd(message.id, about);
      },
    });
    return mapMessages(capped, (answer) => dropNulls(answer, (id) => methods.get(id)));
  };

  return {
    fetch,
    async flush() {
      await createDeadline({ ms: NOTIFY_TIMEOUT_MS }).settles(Promise.allSettled(notifications));
    },
  };
}

/** Says which header a server wants that has answered with 401. Undefined if it does not say so itself. */
function describeChallenge(response: Response): string | undefined {
  const [, scheme] = /^\s*(bearer|basic|dpop)\b/i.exec(response.headers.get("www-authenticate") ?? "") ?? [];
  if (scheme === undefined) return undefined;
  if (scheme.toLowerCase() === "basic")
    return 'the server asks for authorization (401); send the header "Authorization: Basic …" in its headers';
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  const advice = 'send the header "Authorization: Bearer …" in its headers';
  return `the server asks for authorization (401); ${advice}${resourceMetadataUrl ? ", or give auth with client credentials of its authorization server" : ""}`;
}

/**
 * Reads the JSON-RPC message in a request body. Returns the id and the method of a request, or "notification" for a message that gets
 * no answer, which is a notification or a response. Returns undefined if the body is not text.
 */
function readMessage(body: unknown): { id: RequestId; method: string } | "notification" | undefined {
  if (typeof body !== "string") return undefined;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return id === undefined || method === undefined ? "notification" : { id, method };
}
