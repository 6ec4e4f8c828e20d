import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** Lets a server listen on a free port of this machine until the test file ends. @returns the port. */
export async function listenForTests(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
