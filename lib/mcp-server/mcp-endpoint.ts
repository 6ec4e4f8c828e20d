import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import type { AccessWatch, Grant } from "#lib/api/auth/access-watch.ts";
import { ERROR_STATUS } from "#lib/api/contract/error-codes.ts";
import type { BodyReader, ReadBody } from "#lib/api/http/body/body-reader.ts";
import { type Failure, fail } from "#lib/api/http/errors.ts";
import { componentOf, failureOf } from "#lib/api/http/failure-of.ts";
import { isOwnHost, isSameService } from "#lib/api/http/same-origin.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { CallsInFlight } from "./calls-in-flight.ts";
import { ANSWER_TYPES, type AnswerForm, chooseAnswerForm } from "./choose-answer-form.ts";
import { type ClientOffer, issueSessionId, MCP_SESSION_HEADER, readClientOffer } from "./client-offer.ts";
import { toRecord } from "./to-record.ts";

const BODY_BYTES_MAX = 4 * 1_048_576;

type HolderBase = {
  key: string;
  /** The holder's calls are aborted when this grant ends. Undefined for a credential that cannot be revoked. */
  grant: Grant | undefined;
  /** The owner whose budget of large bodies the holder's messages count towards. */
  ownerId: string;
};

/** The part of the official SDK's server that this endpoint uses. */
export type McpServerPort = { connect: (transport: Transport) => Promise<void>; close: () => Promise<void> };

type McpEndpointDeps<Holder extends HolderBase> = {
  /** The public origin of the service. Requests to another host, or from a page of another site, are refused. */
  baseUrl: string;
  /** Authenticates the caller. The holder's `key` is different for each credential. */
  admit: (request: Request) => Promise<{ ok: true; holder: Holder } | Failure>;
  /** Creates an MCP server that handles one message of a holder, in the revisions with `initialize`. */
  open: (holder: Holder, client: ClientOffer) => McpServerPort;
  /** Creates an MCP server that handles one request of a holder, in the revision 2026-07-28. */
  openStateless: (holder: Holder, client: ClientOffer) => Server;
  inFlight: CallsInFlight;
  access: Pick<AccessWatch, "watch">;
  bodies: BodyReader;
  logger: Pick<Logger, "error">;
};

/**
 * Creates a stateless MCP endpoint over Streamable HTTP. Each message carries its credential and is handled by its own
 * server and transport, so any process can answer it. `GET` and `DELETE` are refused, because the endpoint has neither
 * a general stream nor MCP sessions. Tool calls are answered with an event stream, which also reports progress; all
 * other messages are answered with JSON. A client that does not accept this form gets the other one. Requests that name
 * their revision in `_meta` are those of 2026-07-28; all others are those of the revisions up to 2025-11-25. Source: Model
 * Context Protocol 2025-11-25 and 2026-07-28, Transports; decision 130.
 *
 * @returns the request handler, which never rejects.
 */
export function createMcpEndpoint<Holder extends HolderBase>(
  deps: McpEndpointDeps<Holder>,
): (request: Request) => Promise<Response> {
  async function serve(request: Request): Promise<Response> {
    const refusal = refuseForeignRequest(request, deps.baseUrl);
    if (refusal) return refuseMcp(refusal);
    const admitted = await deps.admit(request);
    if (!admitted.ok) return refuseMcp(admitted);
    const body = await deps.bodies.read(request, {
      maxBytes: BODY_BYTES_MAX,
      owner: `owner ${admitted.holder.ownerId}`,
    });
    if (!body.ok) return refuseMcp(body);
    if (Array.isArray(body.value)) {
      body.release();
      return refuseMcp(fail("invalid_request", "body: must be one message, not a batch"));
    }
    return play({ ...admitted, request, body });
  }

  /** Plays one message. Its body counts towards the budget of large bodies until the message is answered. */
  async function play({ holder, request: original, body }: Played<Holder>) {
    const { value: parsedBody, release } = body;
    const message = readMessage(parsedBody);
    const preferred = message.method === "tools/call" ? "stream" : "json";
    const form = chooseAnswerForm(original.headers.get("accept"), preferred);
    // The SDK refuses the request of a client that accepts neither form.
    const request = form ? withBothTypes(original) : original;
    if (message.method === "notifications/cancelled") deps.inFlight.cancel(holder.key, message.cancels);
    const isStateless = !(await isLegacyRequest(request, parsedBody));
    const client = readClientOffer(parsedBody, original.headers);
    const exchange = isStateless
      ? beginStateless(holder, client, form)
      : beginWithTransport(holder, client, form);
    const sessionId = isStateless ? undefined : issueSessionId(parsedBody);
    const { signal: ended, end } = deps.inFlight.begin(holder.key, message.id);
    const revoked = new AbortController();
    const releaseGrant = holder.grant && deps.access.watch(holder.grant, () => revoked.abort());
    const stop = AbortSignal.any([request.signal, ended, revoked.signal]);
    const close = () => {
      stop.removeEventListener("abort", close);
      end();
      release();
      releaseGrant?.();
      // Closing the exchange aborts the signal of a call that is still running.
      exchange
        .close()
        .catch((error: unknown) => deps.logger.error({ err: error }, "an MCP server did not close"));
    };
    try {
      stop.addEventListener("abort", close);
      const answered = exchange.answer(request, parsedBody);
      const answer = closeAfterBody(await answerUntilAborted(answered, stop), close);
      if (sessionId !== undefined && answer.ok) answer.headers.set(MCP_SESSION_HEADER, sessionId);
      return answer;
    } catch (error) {
      close();
      throw error;
    }
  }

  function beginWithTransport(holder: Holder, client: ClientOffer, form: AnswerForm | undefined): Exchange {
    const server = deps.open(holder, client);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: form === "json" });
    return {
      async answer(request, parsedBody) {
        // The cast is needed because the SDK's types are not compatible with exactOptionalPropertyTypes.
        await server.connect(transport as Transport);
        return transport.handleRequest(request, { parsedBody });
      },
      close: () => server.close(),
    };
  }

  function beginStateless(holder: Holder, client: ClientOffer, form: AnswerForm | undefined): Exchange {
    const handler = createMcpHandler(() => deps.openStateless(holder, client), {
      legacy: "reject",
      responseMode: form === "stream" ? "sse" : "auto",
      // Nothing of this server changes, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: () => {},
    });
    return {
      answer: (request, parsedBody) =>
        handler.fetch(request, { parsedBody: form === "json" ? withoutProgress(parsedBody) : parsedBody }),
      close: handler.close,
    };
  }

  return (request) =>
    serve(request).catch((error: unknown) => {
      deps.logger.error({ err: error, ...componentOf(error) }, "an MCP request failed");
      return refuseMcp(failureOf(error));
    });
}

/** Refuses a foreign Host (DNS rebinding), a foreign Origin (a page of another site), and any method but POST. */
function refuseForeignRequest(request: Request, baseUrl: string): Failure | undefined {
  const { method, headers } = request;
  const host = headers.get("host");
  // A request from within this process has no Host header.
  if (host !== null && !isOwnHost(host, baseUrl)) return fail("forbidden", "Host: is not this service's");
  const origin = headers.get("origin");
  if (origin !== null && !isSameService(origin, baseUrl))
    return fail("forbidden", "Origin: is not this service's");
  if (method !== "POST") return fail("method_not_allowed", "method: must be POST", { Allow: "POST" });
  return undefined;
}

/** One message and its answer. */
type Exchange = {
  answer: (request: Request, parsedBody: unknown) => Promise<Response>;
  close: () => Promise<void>;
};

/** A message to handle, with its request. */
type Played<Holder> = { holder: Holder; request: Request; body: Extract<ReadBody, { ok: true }> };

/** Copies a request without its body. `Accept` then names both types, which the SDK demands of every client. */
function withBothTypes({ url, method, headers, signal }: Request): Request {
  const copied = new Headers(headers);
  copied.set("Accept", Object.values(ANSWER_TYPES).join(", "));
  return new Request(url, { method, headers: copied, signal });
}

/** Copies a request whose answer has to be JSON, which has no room for reports of progress. */
function withoutProgress(body: unknown): unknown {
  const { params, ...message } = toRecord(body);
  const { _meta, ...others } = toRecord(params);
  const { progressToken: _, ...meta } = toRecord(_meta);
  return { ...message, params: { ...others, _meta: meta } };
}

type Message = { method: unknown; id: unknown; cancels: unknown };

/** Reads the fields of a message that the endpoint itself needs. The SDK validates the message later. */
function readMessage(body: unknown): Message {
  const { method, id, params } = toRecord(body);
  return { method, id, cancels: toRecord(params).requestId };
}

/**
 * Waits for the answer. If `stop` fires first, because the call was cancelled, the client disconnected or the
 * credential was revoked, returns an empty 202 response.
 */
const answerUntilAborted = (answered: Promise<Response>, stop: AbortSignal): Promise<Response> =>
  createDeadline({ signal: stop }).race(answered, () => new Response(null, { status: 202 }));

/**
 * Returns a copy of the response. Calls `end` when an event stream has been sent or the client stops reading it, and at
 * once for any other response.
 */
function closeAfterBody(response: Response, end: () => void): Response {
  const headers = new Headers(response.headers);
  headers.set("Cache-Control", "no-store");
  // Removes this header, because the HTTP server that sends the response decides whether the connection stays open.
  headers.delete("Connection");
  const isStream = headers.get("content-type") === "text/event-stream";
  if (!isStream || !response.body) {
    end();
    return new Response(response.body, { status: response.status, headers });
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await reader.read().catch((error: unknown) => {
        end();
        throw error;
      });
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

/** Converts a failure into the form that MCP clients expect: an HTTP status, and a JSON-RPC error without an id. */
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
