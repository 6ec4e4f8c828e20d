import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema, type ElicitResult, ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { McpServer } from "../tool-server.ts";
import { fetchOfServer, type RequestId } from "./fetch-of-server.ts";

/** A server's request for something that a person is to tell. */
export type FormRequest = { message: string; requestedSchema: unknown };

/** An initialized connection to one tool server. */
export type McpConnection = {
  client: Client;
  hasTools: boolean;
  isOpen: () => boolean;
  /** Ends it, after what was still to be told (a cancellation, the end of the server's session), within a second each. */
  close: () => Promise<void>;
};

const CLIENT = { name: "agent-session-service", version: "1" };
/** Headers that belong to the exchange itself. */
const NOT_OURS =
  /^(host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept|mcp-session-id|mcp-protocol-version|last-event-id)$/i;
/** An answer's last event is read after its stream has ended. */
const READ_WITHIN_MS = 250;
const FORGET_WITHIN_MS = 1_000;

/**
 * Connects to a tool server and agrees on the protocol. Elicitation in form mode is all that is offered to it: no
 * sampling, no roots. The server's instructions are not read, as it gives none to our agent.
 *
 * @throws McpFailure where that does not succeed, or the signal fires first.
 */
export async function openConnection(
  server: McpServer,
  limits: McpLimits,
  onForm: (request: FormRequest) => Promise<ElicitResult>,
  signal: AbortSignal,
): Promise<McpConnection> {
  const waiting = new Set<RequestId>();
  const wire = fetchOfServer(server, limits, {
    onAnswerEnd(id, { hasEventIds }) {
      // Over SSE the answer comes on the server's own stream; a stream with ids is taken up again by the SDK.
      if (server.type === "http" && !hasEventIds) setTimeout(failUnanswered, READ_WITHIN_MS, id).unref();
    },
    onStreamEnd: () => void (server.type === "sse" && client.close().catch(() => {})),
  });
  const transport = openTransport(server, wire.fetch);
  const client = new Client(CLIENT, {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    // A server's schemas are hostile: nothing is compiled from them.
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
  transport.onmessage = (message) => {
    if ("id" in message && message.id !== undefined && !("method" in message)) waiting.delete(message.id);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("id" in message && message.id !== undefined && "method" in message) waiting.add(message.id);
    return send(message, options);
  };

  /** Without this a request whose answer broke off would wait for its deadline. */
  function failUnanswered(id: RequestId) {
    if (!waiting.delete(id)) return;
    const error = { code: ErrorCode.ConnectionClosed, message: "the answer broke off" };
    transport.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  async function close() {
    isOpen = false;
    await wire.settle();
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined)
      await within(transport.terminateSession(), FORGET_WITHIN_MS);
    await client.close().catch(() => {});
  }

  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    const connecting = client.connect(transport, { timeout: limits.listMs });
    connecting.catch(() => {});
    await Promise.race([connecting, aborted]);
  } catch (error) {
    client.close().catch(() => {});
    throw signal.aborted ? new McpFailure("the server did not answer in time") : toMcpFailure(error);
  } finally {
    signal.removeEventListener("abort", abort);
  }
  return {
    client,
    hasTools: client.getServerCapabilities()?.tools !== undefined,
    isOpen: () => isOpen,
    close,
  };
}

function openTransport(server: McpServer, fetch: McpServer["fetch"]): Transport {
  const headers = Object.fromEntries(Object.entries(server.headers).filter(([name]) => !NOT_OURS.test(name)));
  const options = { fetch, requestInit: { headers } };
  const url = new URL(server.url);
  const transport =
    server.type === "sse"
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
  // The SDK's own types are not written for exactOptionalPropertyTypes.
  return transport as Transport;
}

/** Waits for something that may fail, but not for long. */
async function within(work: Promise<unknown>, withinMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  await Promise.race([work.catch(() => {}), promise]);
  clearTimeout(timer);
}
