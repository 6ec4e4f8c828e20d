import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ReadableStream as NodeReadableStream } from "node:stream/web";
import { recordPeer } from "#lib/api/http/client-address.ts";
import { isStreamed } from "#lib/api/http/streamed-response.ts";

/** How long a client may read nothing of a streamed body. */
const STALLED_MS = 60_000;

/** Web requests do not allow the method TRACE, so it is replaced by a name that no operation uses. */
const REPLACED_METHODS = { TRACE: "X-TRACE" } as Record<string, string>;

/**
 * Keeps each request alive as long as its response, because the signal of a collected `Request` never fires (undici 7).
 */
const REQUESTS = new WeakMap<ServerResponse, Request>();

/**
 * Converts Node's request to a web request. The signal of the web request fires if the client disconnects before it has
 * the response. The body is read from the connection on demand. A reader that stops early does not close the
 * connection.
 *
 * @param url the URL of the request, which does not depend on its `Host`.
 */
export function toWebRequest(request: IncomingMessage, response: ServerResponse, url: URL): Request {
  const nodeMethod = request.method ?? "GET";
  const method = REPLACED_METHODS[nodeMethod] ?? nodeMethod;
  const disconnected = new AbortController();
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each);
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? NodeReadableStream.from(request.iterator({ destroyOnReturn: false })) : undefined;
  const init = { method, headers, signal: disconnected.signal, body: body as ReadableStream, duplex: "half" };
  const converted = new Request(url, init);
  REQUESTS.set(response, converted);
  recordPeer(converted, request.socket.remoteAddress);
  response.once("close", () => {
    if (!response.writableFinished) disconnected.abort();
  });
  return converted;
}

/**
 * Sends a web response as Node's response. An event stream is sent event by event, no faster than the client reads, and
 * is cancelled when the client disconnects; so is a body that is marked as streamed. Any other body is already in memory
 * and is sent at once.
 *
 * @param ended ends event streams after a whole event, so that the client sees the end of the response and can resume.
 */
export async function sendResponse(
  response: ServerResponse,
  answer: Response,
  ended?: AbortSignal,
): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  if (!answer.body) response.end();
  else if (isEventStream(answer.headers.get("content-type"))) await pipeStream(answer.body, response, ended);
  else if (isStreamed(answer)) {
    response.setTimeout(STALLED_MS, () => response.destroy());
    await pipeStream(answer.body, response, undefined);
  } else response.end(Buffer.from(await answer.arrayBuffer()));
  // Discard the unread rest of the request body: some clients read the response only after they have sent everything.
  if (response.req.readableDidRead && !response.req.complete) response.req.resume();
}

export const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && contentType.startsWith("text/event-stream");

async function pipeStream(
  body: ReadableStream<Uint8Array>,
  response: ServerResponse,
  ended: AbortSignal | undefined,
): Promise<void> {
  response.flushHeaders();
  const reader = body.getReader();
  const closed = new AbortController();
  const cancel = () => void reader.cancel().catch(() => {});
  response.once("close", () => {
    closed.abort();
    cancel();
  });
  ended?.addEventListener("abort", cancel, { signal: closed.signal });
  if (ended?.aborted) cancel();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (!response.write(part.value)) await once(response, "drain", { signal: closed.signal });
    response.end();
  } catch (error) {
    response.destroy();
    if (!closed.signal.aborted) throw error;
  }
}
