import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Received } from "../fixtures/receiver.ts";

export type HoldingServer = Awaited<ReturnType<typeof startHoldingServer>>;

/**
 * Starts an HTTP server in the test process, which outlives the service. The server never answers the first request to
 * a path below `/withheld/`. It answers the first request to a path below `/refused/` with 500, and all other requests
 * with 200.
 */
export async function startHoldingServer() {
  const received: Received[] = [];
  const withheld = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    const isFirst = !received.some(({ path }) => path === url);
    received.push({ method, path: url, headers, body: Buffer.concat(chunks), at: performance.now() });
    if (isFirst && url.startsWith("/withheld/")) return void withheld.add(response);
    response.writeHead(isFirst && url.startsWith("/refused/") ? 500 : 200, { "content-type": "text/plain" });
    response.end("The answer.");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    at: (path: string) => received.filter((request) => request.path === path),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
