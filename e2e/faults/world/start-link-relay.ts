import { connect, createServer, type Socket } from "node:net";

/** Forwards TCP connections to a port of this machine. */
export type LinkRelay = {
  url: string;
  /** Forwards nothing from now on, and ends nothing, as a network that loses every packet. */
  cut: () => void;
  /** Forwards new connections again. The earlier ones are lost. */
  heal: () => void;
  close: () => Promise<void>;
};

/** Starts a relay to the host that listens at a `ws:` URL on loopback. */
export async function startLinkRelay(targetUrl: string): Promise<LinkRelay> {
  const port = Number(new URL(targetUrl).port);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => isCut || to.write(data));
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" && address ? address.port : 0;
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `ws://127.0.0.1:${own}`,
    cut() {
      isCut = true;
    },
    heal() {
      destroyAll();
      isCut = false;
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
