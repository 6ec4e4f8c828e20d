import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import type { AccessWatch, Grant } from "#lib/api/auth/access-watch.ts";
import type { BodyReader } from "#lib/api/http/body/body-reader.ts";
import { ERROR_STATUS, type Failure, fail } from "#lib/api/http/errors.ts";
import { failureOf } from "#lib/api/http/failure-of.ts";
import { isOwnHost, isSameService } from "#lib/api/http/same-origin.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { CallsInFlight } from "./calls-in-flight.ts";

const BODY_BYTES_MAX = 4 * 1_048_576;

type HolderBase = {
  key: string;
  /** Its calls end with this; undefined for a credential that cannot be withdrawn before it expires. */
  grant: Grant | undefined;
};

/** What a server of the official SDK offers to a transport. */
export type McpServerPort = { connect: (transport: Transport) => Promise<void>; close: () => Promise<void> };

type McpEndpointDeps<Holder extends HolderBase> = {
  /** Public origin: requests that name another host, or come from another site's page, are refused. */
  baseUrl: string;
  /** Who is calling; `key` tells the holders of credentials apart. */
  admit: (request: Request) => Promise<{ ok: true; holder: Holder } | Failure>;
  /** A server for one message of theirs. */
  open: (holder: Holder) => McpServerPort;
  inFlight: CallsInFlight;
  access: Pick<AccessWatch, "watch">;
  bodies: BodyReader;
  logger: Pick<Logger, "error">;
};

/**
 * An MCP server over Streamable HTTP without any state: each message brings its credential, and has a server and a
 * transport of its own, so that any process may answer it. No stream is offered for `GET`, and there is no session to
 * `DELETE`. A call of a tool is answered as an event stream, on which its progress comes, anything else as JSON.
 * Source: Model Context Protocol 2025-11-25, Transports.
 *
 * @returns the handler of its path; it never rejects.
 */
export function createMcpEndpoint<Holder extends HolderBase>(
  deps: McpEndpointDeps<Holder>,
): (request: Request) => Promise<Response> {
  async function serve(request: Request): Promise<Response> {
    const refusal = refuseStranger(request, deps.baseUrl);
    if (refusal) return refuseMcp(refusal);
    const admitted = await deps.admit(request);
    if (!admitted.ok) return refuseMcp(admitted);
    const body = await deps.bodies.read(request, BODY_BYTES_MAX);
    if (!body.ok) return refuseMcp(body);
    body.release();
    if (Array.isArray(body.value))
      return refuseMcp(fail("invalid_request", "body: must be one message, not a batch"));
    return play(admitted.holder, request, readMessage(body.value), body.value);
  }

  async function play(holder: Holder, request: Request, message: Message, parsedBody: unknown) {
    if (message.method === "notifications/cancelled") deps.inFlight.cancel(holder.key, message.cancels);
    const server = deps.open(holder);
    const { signal: ended, end } = deps.inFlight.begin(holder.key, message.id);
    const withdrawn = new AbortController();
    const letGo = holder.grant && deps.access.watch(holder.grant, () => withdrawn.abort());
    const stop = AbortSignal.any([request.signal, ended, withdrawn.signal]);
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: message.method !== "tools/call",
    });
    const close = () => {
      stop.removeEventListener("abort", close);
      end();
      letGo?.();
      // What is still at work on the message sees its signal fire.
      server
        .close()
        .catch((error: unknown) => deps.logger.error({ err: error }, "an MCP server did not close"));
    };
    try {
      // The SDK's own types disagree under exactOptionalPropertyTypes.
      await server.connect(transport as Transport);
      stop.addEventListener("abort", close);
      const answered = transport.handleRequest(request, { parsedBody });
      return afterwards(await untilAborted(answered, stop), close);
    } catch (error) {
      close();
      throw error;
    }
  }

  return (request) =>
    serve(request).catch((error: unknown) => {
      deps.logger.error({ err: error }, "an MCP request failed");
      return refuseMcp(failureOf(error));
    });
}

/** What cannot be from a client of ours: a name that was rebound to this machine, a page of another site, a method. */
function refuseStranger(request: Request, baseUrl: string): Failure | undefined {
  const { method, headers } = request;
  const host = headers.get("host");
  // A request that is made within the process names none.
  if (host !== null && !isOwnHost(host, baseUrl)) return fail("forbidden", "Host: is not this service's");
  const origin = headers.get("origin");
  if (origin !== null && !isSameService(origin, baseUrl))
    return fail("forbidden", "Origin: is not this service's");
  if (method !== "POST") return fail("method_not_allowed", "method: must be POST", { Allow: "POST" });
  return undefined;
}

type Message = { method: unknown; id: unknown; cancels: unknown };

/** The little that the endpoint itself must know of a message; the SDK checks the whole. */
function readMessage(body: unknown): Message {
  const { method, id, params } = toRecord(body);
  return { method, id, cancels: toRecord(params).requestId };
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** The answer; an empty one where the client cancelled its request or has gone, and nobody waits any more. */
async function untilAborted(answered: Promise<Response>, stop: AbortSignal): Promise<Response> {
  const { promise: aborted, resolve } = Promise.withResolvers<Response>();
  const onAbort = () => resolve(new Response(null, { status: 202 }));
  if (stop.aborted) onAbort();
  else stop.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([answered, aborted]);
  } finally {
    stop.removeEventListener("abort", onAbort);
  }
}

/** The same response; `end` is called once it is sent, or nobody reads on. */
function afterwards(response: Response, end: () => void): Response {
  const headers = new Headers(response.headers);
  headers.set("Cache-Control", "no-store");
  // Connections are the business of whoever sends it.
  headers.delete("Connection");
  const isStream = headers.get("content-type") === "text/event-stream";
  if (!isStream || !response.body) {
    end();
    return new Response(response.body, { status: response.status, headers });
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await reader.read();
      if (!part.done) return controller.enqueue(part.value);
      end();
      controller.close();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers });
}

/** A refusal as MCP clients read it: a JSON-RPC error without an id, under an HTTP status. */
function refuseMcp(failure: Failure): Response {
  const code = failure.code === "invalid_request" ? ErrorCode.InvalidRequest : ErrorCode.ConnectionClosed;
  return Response.json(
    { jsonrpc: "2.0", error: { code, message: failure.error, data: { code: failure.code } }, id: null },
    {
      status: ERROR_STATUS[failure.code],
      headers: { "Cache-Control": "no-store", ...failure.headers },
    },
  );
}
