import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type ClientRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
} from "@modelcontextprotocol/sdk/types.js";
import { createDeadline } from "#lib/time/deadline.ts";
import { BROKE_OFF, McpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { McpServer } from "../tool-server.ts";
import { fetchOfServer, type RequestId } from "./fetch-of-server.ts";
import { CLIENT, type FormRequest, type McpConnection, withoutTransportHeaders } from "./mcp-connection.ts";

/** How long to wait for the answer after its stream has ended: the SDK may parse the last event only after the end. */
const READ_GRACE_MS = 250;
const TERMINATE_TIMEOUT_MS = 1_000;

/**
 * Connects to a tool server in a revision up to 2025-11-25, which has an `initialize` request and, usually, sessions.
 * The client offers only one capability, elicitation in form mode, and neither sampling nor roots. The server's
 * instructions are ignored, because a server must not instruct the agent.
 *
 * @throws McpFailure if the signal fires first, and other errors if the connection cannot be opened.
 */
export async function openSession(
  server: McpServer,
  limits: McpLimits,
  onForm: (request: FormRequest) => Promise<ElicitResult>,
  signal: AbortSignal,
): Promise<McpConnection> {
  const waiting = new Set<RequestId>();
  const wire = fetchOfServer(server, limits, {
    onAnswerEnd(id, { hasEventIds }) {
      // Fails the request only if its answer can no longer arrive. It can still arrive in two cases: with the `sse`
      // transport, answers arrive on another stream; and if the stream that ended had event ids, the SDK resumes it.
      if (server.type === "http" && !hasEventIds) setTimeout(failUnanswered, READ_GRACE_MS, id).unref();
    },
    onStreamEnd: () => void (server.type === "sse" && client.close().catch(() => {})),
  });
  const transport = openTransport(server, wire.fetch);
  let revision = "";
  const client = new Client(CLIENT, {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    // A server's schemas are untrusted, so the SDK must not compile them.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
  };
  client.onerror = () => {};
  client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
    "requestedSchema" in params
      ? onForm({ message: params.message, requestedSchema: params.requestedSchema })
      : { action: "decline" },
  );
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  transport.onmessage = (message) => {
    if ("id" in message && message.id !== undefined && !("method" in message)) waiting.delete(message.id);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("id" in message && message.id !== undefined && "method" in message) waiting.add(message.id);
    return send(message, options);
  };

  /** Fails a request whose answer ended too early. Otherwise the request would wait until its deadline. */
  function failUnanswered(id: RequestId) {
    if (!waiting.delete(id)) return;
    const error = { code: ErrorCode.ConnectionClosed, message: BROKE_OFF };
    transport.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  async function close() {
    isOpen = false;
    await wire.flush();
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined)
      await createDeadline({ ms: TERMINATE_TIMEOUT_MS }).settles(transport.terminateSession());
    await client.close().catch(() => {});
  }

  try {
    await createDeadline({ signal }).race(() => client.connect(transport, { timeout: limits.listMs }));
  } catch (error) {
    client.close().catch(() => {});
    throw signal.aborted ? new McpFailure("the server did not answer in time") : error;
  }
  return {
    revision,
    client,
    request: (request, schema, options) => client.request(request as ClientRequest, schema, options),
    hasTools: client.getServerCapabilities()?.tools !== undefined,
    hasTasks: client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined,
    isOpen: () => isOpen,
    canBeLost: () =>
      !(transport instanceof StreamableHTTPClientTransport) || transport.sessionId !== undefined,
    close,
  };
}

function openTransport(server: McpServer, fetch: McpServer["fetch"]): Transport {
  const options = { fetch, requestInit: { headers: withoutTransportHeaders(server.headers) } };
  const url = new URL(server.url);
  const transport =
    server.type === "sse"
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
  // The cast is needed because the SDK's types are not compatible with exactOptionalPropertyTypes.
  return transport as Transport;
}
