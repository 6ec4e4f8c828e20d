import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ReadableStream as NodeReadableStream } from "node:stream/web";
import { notePeer } from "#lib/api/http/client-address.ts";

/** The one method that Node reads and a web request may not have: a name that no path has an operation for stands in. */
const UNSAYABLE = { TRACE: "X-TRACE" } as Record<string, string>;

/** Keeps each request alive as long as its response: the signal of a collected `Request` never fires (undici 7). */
const REQUESTS = new WeakMap<ServerResponse, Request>();

/**
 * Node's request as a web one: its signal fires when the client goes before it has its answer, its body is read from
 * the connection piece by piece, and whoever stops reading it leaves the connection as it is.
 *
 * @param url the request's own address, whatever its `Host` says.
 */
export function toWebRequest(request: IncomingMessage, response: ServerResponse, url: URL): Request {
  const sent = request.method ?? "GET";
  const method = UNSAYABLE[sent] ?? sent;
  const gone = new AbortController();
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each);
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? NodeReadableStream.from(request.iterator({ destroyOnReturn: false })) : undefined;
  const init = { method, headers, signal: gone.signal, body: body as ReadableStream, duplex: "half" };
  const converted = new Request(url, init);
  REQUESTS.set(response, converted);
  notePeer(converted, request.socket.remoteAddress);
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return converted;
}

/**
 * Answers Node's request with a web response. An event stream is sent as it comes, no faster than the client reads,
 * and cancelled when the client goes; everything else is in memory already and goes out whole.
 */
export async function sendResponse(response: ServerResponse, answer: Response): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  if (!answer.body) response.end();
  else if (isEventStream(answer.headers.get("content-type"))) await pour(answer.body, response);
  else response.end(Buffer.from(await answer.arrayBuffer()));
  // What was not read of the request is let go by, so that its sender comes to read the answer.
  if (response.req.readableDidRead && !response.req.complete) response.req.resume();
}

export const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && contentType.startsWith("text/event-stream");

async function pour(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  response.flushHeaders();
  const reader = body.getReader();
  const closed = new AbortController();
  response.once("close", () => {
    closed.abort();
    reader.cancel().catch(() => {});
  });
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (!response.write(part.value)) await once(response, "drain", { signal: closed.signal });
    response.end();
  } catch (error) {
    response.destroy();
    if (!closed.signal.aborted) throw error;
  }
}
