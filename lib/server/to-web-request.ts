import type { IncomingMessage, ServerResponse } from "node:http";
import { ReadableStream as NodeReadableStream } from "node:stream/web";

/** The one method that Node reads and a web request may not have: a name that no path has an operation for stands in. */
const UNSAYABLE = { TRACE: "X-TRACE" } as Record<string, string>;

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
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each);
  const init = { method, headers, signal: gone.signal };
  if (method === "GET" || method === "HEAD") return new Request(url, init);
  const body = NodeReadableStream.from(request.iterator({ destroyOnReturn: false })) as ReadableStream;
  const withBody = { ...init, body, duplex: "half" };
  return new Request(url, withBody);
}
