import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { createWebSocketStream, WebSocketServer } from "ws";

/** A WebSocket-to-TCP proxy, which Neon's driver needs in front of a plain Postgres. */
type NeonProxy = { /** The value of `NEON_WSPROXY`. */ wsProxy: string; close: () => Promise<void> };

/** Starts a proxy on loopback that connects all clients to the server of `url`, whatever address they request. */
export async function startNeonProxy(url: string): Promise<NeonProxy> {
  const { hostname, port } = new URL(url);
  const listener = createServer();
  const server = new WebSocketServer({ server: listener, perMessageDeflate: false });
  server.on("connection", (socket) => {
    const client = createWebSocketStream(socket);
    const upstream = connect({ host: hostname, port: Number(port || 5432), noDelay: true });
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const stream of [client, upstream]) stream.on("error", end).on("close", end);
    client.pipe(upstream).pipe(client);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  // Allows the process to exit while the proxy is open.
  listener.unref();
  const address = listener.address();
  if (typeof address !== "object" || !address) throw new Error("the proxy has no address");
  return {
    wsProxy: `127.0.0.1:${address.port}/`,
    async close() {
      for (const socket of server.clients) socket.terminate();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
