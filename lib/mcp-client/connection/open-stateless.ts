import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { createDeadline } from "#lib/time/deadline.ts";
import { BROKE_OFF } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { McpServer } from "../tool-server.ts";
import { fetchOfServer } from "./fetch-of-server.ts";
import {
  CLIENT,
  type McpConnection,
  type RequestOptions,
  STATELESS,
  withoutTransportHeaders,
} from "./mcp-connection.ts";

/** What `server/discover` says of a server. */
const discoverySchema = z.looseObject({
  supportedVersions: z.array(z.string()),
  capabilities: z.looseObject({ tools: z.unknown().optional() }).nullish(),
});

const progressSchema = z.looseObject({ progressToken: z.union([z.string(), z.number()]) });

/** A request that waits for its answer. */
type Waiting = {
  onprogress: (() => void) | undefined;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/** How long to wait for the answer after its stream has ended: the SDK may parse the last event only after the end. */
const READ_GRACE_MS = 250;

/** How the client introduces itself in each request. It can show forms, and offers neither sampling nor roots. */
const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: STATELESS,
  [CLIENT_INFO_META_KEY]: CLIENT,
  [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } },
};

/**
 * Asks a tool server whether it speaks the revision 2026-07-28.
 *
 * @returns a connection; undefined if the server does not speak this revision.
 * @throws if the request fails. A server that is silent for `limits.probeMs` fails with a `TimeoutError`.
 */
export async function probeStateless(
  server: McpServer,
  limits: McpLimits,
  signal: AbortSignal,
): Promise<McpConnection | undefined> {
  const opened = createRequester(server, limits);
  try {
    const discovery = await createDeadline({ ms: limits.probeMs, signal }).run((limited) =>
      opened.request({ method: "server/discover", params: {} }, discoverySchema, {
        signal: limited,
        timeout: limits.probeMs,
      }),
    );
    if (discovery.supportedVersions.includes(STATELESS))
      return toConnection(opened, { hasTools: (discovery.capabilities?.tools ?? null) !== null });
  } catch (error) {
    opened.close();
    throw error;
  }
  opened.close();
  return undefined;
}

/** Connects to a tool server that is known to speak the revision 2026-07-28. This sends nothing. */
export const adoptStateless = (server: McpServer, limits: McpLimits): McpConnection =>
  toConnection(createRequester(server, limits), { hasTools: true });

type Requester = ReturnType<typeof createRequester>;

const toConnection = (
  { request, isOpen, close }: Requester,
  { hasTools }: { hasTools: boolean },
): McpConnection => ({
  revision: STATELESS,
  hasTools,
  hasTasks: false,
  client: undefined,
  request,
  isOpen,
  canBeLost: () => true,
  close: async () => close(),
});

/**
 * Sends requests of the revision 2026-07-28, each in an HTTP request of its own. The SDK's transport is used without the
 * SDK's client, because the client refuses a whole list of tools if one of them is not valid.
 */
function createRequester(server: McpServer, limits: McpLimits) {
  const waiting = new Map<unknown, Waiting>();
  const wire = fetchOfServer(server, limits, {
    // An answer cannot be resumed in this revision, so a request whose answer has ended is over.
    onAnswerEnd: (id) => void setTimeout(failUnanswered, READ_GRACE_MS, id).unref(),
    onStreamEnd: () => {},
  });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: wire.fetch,
    requestInit: { headers: withoutTransportHeaders(server.headers) },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
    },
  });
  let requests = 0;
  let isOpen = true;

  transport.onmessage = (message) => receive(message as JSONRPCMessage);
  transport.onerror = () => {};
  const started = transport.start();

  function receive(message: JSONRPCMessage) {
    if ("method" in message) {
      // The server cannot send requests in this revision.
      if (message.method !== "notifications/progress") return;
      const progress = progressSchema.safeParse(message.params);
      if (progress.success) waiting.get(progress.data.progressToken)?.onprogress?.();
      return;
    }
    const request = waiting.get(message.id);
    if ("error" in message) {
      const { code, message: sentence, data } = message.error;
      request?.reject(new McpError(code, sentence, data));
    } else request?.resolve(message.result);
  }

  function failUnanswered(id: unknown) {
    waiting.get(id)?.reject(new McpError(ErrorCode.ConnectionClosed, BROKE_OFF));
  }

  async function request<Schema extends z.ZodType>(
    { method, params }: { method: string; params: Record<string, unknown> },
    schema: Schema,
    { signal, timeout, onprogress, headers }: RequestOptions,
  ): Promise<z.output<Schema>> {
    await started;
    const id = ++requests;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { onprogress, resolve, reject });
    const own = typeof params._meta === "object" ? params._meta : {};
    const _meta = { ...own, ...ENVELOPE, ...(onprogress && { progressToken: id }) };
    // Closing the stream of the answer is how a request is cancelled in this revision.
    const cancelling = new AbortController();
    try {
      const result = await createDeadline({ ms: timeout, signal }).race(() => {
        transport
          .send(
            { jsonrpc: "2.0", id, method, params: { ...params, _meta } },
            { requestSignal: cancelling.signal, ...(headers && { headers: { ...headers } }) },
          )
          .catch(reject);
        return promise;
      });
      return schema.parse(result);
    } finally {
      waiting.delete(id);
      cancelling.abort();
    }
  }

  return {
    request,
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      void transport.close();
      for (const { reject } of waiting.values())
        reject(new McpError(ErrorCode.ConnectionClosed, "Connection closed"));
    },
  };
}
