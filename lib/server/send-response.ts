import { once } from "node:events";
import type { ServerResponse } from "node:http";

/**
 * Answers Node's request with a web response. An event stream is sent as it comes, no faster than the client reads,
 * and cancelled when the client goes; everything else is in memory already and goes out whole.
 */
export async function sendResponse(response: ServerResponse, answer: Response): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
  if (!answer.body) response.end();
  else if (isStream) await pour(answer.body, response);
  else response.end(Buffer.from(await answer.arrayBuffer()));
  // What was not read of the request is let go by, so that its sender comes to read the answer.
  if (response.req.readableDidRead && !response.req.complete) response.req.resume();
}

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
