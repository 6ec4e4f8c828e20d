import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TEST_PROXY_SOCKET } from "../sandbox-service.ts";
import { openProxySocket } from "./proxy-socket.ts";

it("a sandbox cannot exhaust the file descriptors of the service with connections", async () => {
  const parent = await mkdtemp(join(tmpdir(), "proxy-socket-"));
  const accepted = new Set<Socket>();
  const server = createServer((socket) => {
    accepted.add(socket.on("error", () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = await openProxySocket(join(parent, "egress"), port, undefined);
  const clients = Array.from({ length: 450 }, () =>
    connect(join(parent, "egress", TEST_PROXY_SOCKET.split("/").at(-1) ?? "")).on("error", () => {}),
  );
  try {
    const deadline = Date.now() + 10_000;
    while (clients.filter(({ closed }) => closed).length < 50 && Date.now() < deadline) await sleep(10);
    assert.equal(clients.filter(({ closed }) => closed).length, 50);
    clients[0]?.destroy();
    while (clients.filter(({ closed }) => closed).length < 51 && Date.now() < deadline) await sleep(10);
    assert.ok(accepted.size <= 400, String(accepted.size));
  } finally {
    for (const client of clients) client.destroy();
    await socket.close();
    for (const each of accepted) each.destroy();
    server.close();
    await rm(parent, { recursive: true, force: true });
  }
});
