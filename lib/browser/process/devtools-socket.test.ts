import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { openDevtoolsAt } from "./devtools-socket.ts";

/** Ends the connections, too: each open connection would keep the test running. */
function closeServer(server: WebSocketServer): void {
  for (const client of server.clients) client.terminate();
  server.close();
}

test("a command on a closed connection fails at once", async (t) => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  t.after(() => closeServer(server));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const devtools = await (await openDevtoolsAt(`ws://127.0.0.1:${port}`)).open(5_000, {
    onEvent() {},
    onClose() {},
  });
  for (const client of server.clients) client.terminate();
  await devtools.closed;
  assert.equal(devtools.isOpen(), false);
  await assert.rejects(devtools.ask("Browser.getVersion", {}));
});

for (const text of ["not JSON", "null", "42", ""])
  test(`an endpoint that sends ${JSON.stringify(text)} loses the connection, and the command fails`, async (t) => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    t.after(() => closeServer(server));
    server.on("connection", (client) => client.on("message", () => client.send(text)));
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const devtools = await (await openDevtoolsAt(`ws://127.0.0.1:${port}`)).open(5_000, {
      onEvent() {},
      onClose() {},
    });
    await assert.rejects(devtools.ask("Browser.getVersion", {}), /The browser is gone/);
    await devtools.closed;
  });
