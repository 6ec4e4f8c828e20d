import { chmod, chown, mkdir } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { basename, join } from "node:path";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { TEST_PROXY_SOCKET } from "../sandbox-service.ts";

/**
 * Maximum number of connections. One browser needs fewer: at most 32 connections to a proxy and 255 WebSockets. Each
 * connection takes four file descriptors of the service.
 */
const CONNECTIONS_MAX = 400;

/** A Unix socket that forwards to a loopback port of this machine. */
type ProxySocket = { close: () => Promise<void> };

/**
 * Creates a Unix socket through which a sandbox without a network can reach one port of this machine.
 *
 * @param folder the folder to create for the socket.
 * @param owner the user that may connect, if it is not the service's own user.
 */
export async function openProxySocket(
  folder: string,
  port: number,
  owner: SandboxUser | undefined,
): Promise<ProxySocket> {
  await mkdir(folder, { mode: 0o700 });
  const path = join(folder, basename(TEST_PROXY_SOCKET));
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(socket);
      // A browser may drop a connection at any time. The other side of the connection is then closed, too.
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.maxConnections = CONNECTIONS_MAX;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    await chmod(path, 0o600);
    if (owner) await Promise.all([path, folder].map((each) => chown(each, owner.uid, owner.gid)));
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
