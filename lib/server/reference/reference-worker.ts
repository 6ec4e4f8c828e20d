import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setPriority } from "node:os";
import { Duplex } from "node:stream";
import { buildDocument } from "#lib/api/openapi/document/build-document.ts";
import { prepareNext } from "../create-pages.ts";
import { composeReference } from "./compose-reference.ts";
import { REFERENCE_PATH } from "./reference-page.ts";
import type { RenderedReference } from "./render-reference.ts";

// Renders the API reference in a process of its own, sends it to the service, and exits.

const PRIORITY = 10;
const PAGE_BYTES_MAX = 64 * 1_024 * 1_024;

setPriority(PRIORITY);
process.once("disconnect", () => process.exit());
const baseUrl = process.argv[2] ?? "";
const send = (result: RenderedReference) => process.send?.(result, () => process.exit());
render().then(send, (error: unknown) => send({ error: String(error) }));

async function render(): Promise<RenderedReference> {
  // The page gets its document from the service of the process, see `lib/api/next/find-container.ts`.
  const serve = async () => Response.json(buildDocument(baseUrl));
  Object.assign(globalThis, { [Symbol.for("agent-session-service")]: { serve } });
  const { host, port } = new URL(baseUrl);
  const { handle } = await prepareNext(
    { NODE_ENV: "production", HOST: "127.0.0.1", PORT: Number(port) },
    createServer(),
  );
  const { status, headers, body } = await requestPage(handle, host);
  if (status !== 200) throw new Error(`the API reference was not rendered: status ${status}`);
  const { link } = headers;
  return {
    reference: await composeReference({
      html: body.toString(),
      ...(typeof link === "string" && { link }),
    }),
  };
}

/** Requests the page from Next without a connection, and collects the response. */
async function requestPage(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  host: string,
) {
  const parts: Buffer[] = [];
  const sink = new Duplex({
    // Large enough for the whole page, because only a server's connection reports that it can take more.
    writableHighWaterMark: PAGE_BYTES_MAX,
    read() {},
    write(part: Buffer, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.url = REFERENCE_PATH;
  request.headers = { host };
  // In a response for HTTP/1.0, the body ends with the connection and is not divided into chunks.
  request.httpVersion = "1.0";
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 0;
  const response = new ServerResponse(request);
  // The cast is safe, because a response only writes to its socket.
  response.assignSocket(sink as Socket);
  const finished = new Promise((resolve) => response.once("finish", resolve));
  await handle(request, response);
  await finished;
  const bytes = Buffer.concat(parts);
  return {
    status: response.statusCode,
    headers: response.getHeaders(),
    body: bytes.subarray(bytes.indexOf("\r\n\r\n") + 4),
  };
}
