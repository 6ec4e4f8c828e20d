import { GuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { Fetch, McpServer } from "../tool-server.ts";
import { capBody } from "./cap-body.ts";

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** Who is told when the answer to a request, or the server's own stream, is over. */
type AnswerWatch = {
  onAnswerEnd: (id: RequestId, about: { hasEventIds: boolean }) => void;
  onStreamEnd: () => void;
};

/** How long a request that tells of something, such as a cancellation, is waited for when a connection closes. */
const TOLD_WITHIN_MS = 1_000;

/**
 * The fetch of one server's transport: of its origin alone, its bodies counted, its streams opened only so often.
 * `settle` waits for what was still to be told.
 */
export function fetchOfServer(
  server: McpServer,
  limits: McpLimits,
  watch: AnswerWatch,
): { fetch: Fetch; settle: () => Promise<void> } {
  const { origin, host } = new URL(server.url);
  const telling = new Set<Promise<unknown>>();
  let streams = 0;

  const fetch: Fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // The caller's headers are secrets of this server.
    if (url.origin !== origin)
      throw new GuardedFetchError("refused", `${host} sent us to another host, ${url.host}`);
    const isStream = (init.method ?? "GET") === "GET";
    // "There is no stream" is an answer that the protocol knows; it ends a server's endless reopening.
    if (isStream && ++streams > limits.streamsMax) return new Response(null, { status: 405 });
    const asked = readMessage(init.body);
    const sent = server.fetch(url, init);
    if (asked === "told") {
      telling.add(sent);
      sent.catch(() => {}).finally(() => telling.delete(sent));
    }
    return capBody(await sent, {
      host,
      messageBytesMax: limits.messageBytesMax,
      bytesMax: isStream ? Number.POSITIVE_INFINITY : limits.exchangeBytesMax,
      onEnd(about) {
        if (isStream) watch.onStreamEnd();
        else if (asked !== undefined && asked !== "told") watch.onAnswerEnd(asked.id, about);
      },
    });
  };

  return {
    fetch,
    async settle() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, TOLD_WITHIN_MS);
      await Promise.race([Promise.allSettled(telling), promise]);
      clearTimeout(timer);
    },
  };
}

/** What a body asks or tells; it was made by the SDK of one JSON-RPC message. */
function readMessage(body: unknown): { id: RequestId } | "told" | undefined {
  if (typeof body !== "string") return undefined;
  const message = JSON.parse(body) as { id?: RequestId; method?: string };
  if (message.id === undefined) return "told";
  return message.method === undefined ? "told" : { id: message.id };
}
