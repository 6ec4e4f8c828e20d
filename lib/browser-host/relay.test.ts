import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { browserHosts } from "#db/schema/index.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { linkPath, PROTOCOL_VERSION, relayPath } from "#lib/host-link/link-message.ts";
import { mintRelayToken } from "#lib/host-link/relay-token.ts";
import { openTestHosts, TEST_RELAY_KEY, type TestHosts, type TestProcess } from "./testing.ts";

let loads = 0;
let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
/** Has the host on its machine, and relays. */
let near: TestProcess;
/** Is on another machine. */
let far: TestProcess;
let relay: Awaited<ReturnType<typeof startRelay>>;
let sessionId: string;

before(async () => {
  site = await startTestSite((_, response) => {
    loads += 1;
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Form</h1><input aria-label=Name>");
  });
  relay = await startRelay();
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
  far = await hosts.open({}, { machine: "another machine" });
});
after(async () => {
  relay?.close();
  await hosts?.close();
  await site?.close();
});

const read = (process: TestProcess) =>
  process.use(sessionId, "browser_execute", { script: "return page.inputValue('input')" });

test("a process that cannot reach a host says so, and starts no second browser", async () => {
  const alone = await hosts.open();
  sessionId = await insertTestSession(hosts.db);
  await alone.service.navigate(sessionId, `${site.origin}/form`);
  const [host] = await hosts.db.select().from(browserHosts);
  await assert.rejects(far.use(sessionId, "dom_query", {}), {
    message: `The browser host ${host?.id} is on another machine, and no process of the service there accepts connections from this one (INTERNAL_URL).`,
  });
  assert.equal(loads, 1);
  assert.equal((await hosts.db.select().from(browserHosts)).length, 1);
  await alone.close(false);
});

test("a process on another machine works on the same page through one that relays", async () => {
  near = await hosts.open({}, { relay: { key: TEST_RELAY_KEY, url: relay.url } });
  relay.relays(near);
  await near.use(sessionId, "browser_execute", { script: "await page.fill('input', 'half')" });
  await waitFor(
    async () => (await hosts.db.select().from(browserHosts))[0]?.relayUrl === relay.url,
    "the address of the relay",
  );
  assert.match(await read(far), /half/);
  assert.match(await far.use(sessionId, "screenshot", {}), /\[image\]/);
  const frames = await new Promise<number>((resolve) => {
    const stop = far.service.watch(sessionId, {
      onFrame({ jpeg }) {
        stop();
        resolve(jpeg.length);
      },
    });
  });
  assert.ok(frames > 0);
  assert.equal(loads, 1);
  assert.equal((await hosts.db.select().from(browserHosts)).length, 1);
});

test("a relay demands a token of the deployment for this host, and reveals neither the host's address nor its token", async () => {
  const [host] = await hosts.db.select().from(browserHosts);
  assert.ok(host);
  const path = linkPath(PROTOCOL_VERSION);
  const ask = (token: string, address = `${relayPath(host.id)}${path}`) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const socket = new WebSocket(`${relay.url.replace("http", "ws")}${address}`, { headers });
      socket.on("error", () => {});
      socket.on("unexpected-response", (request, response) => {
        request.destroy();
        resolve(response.statusCode ?? 0);
      });
      socket.on("open", () => {
        socket.terminate();
        reject(new Error("the relay opened a link"));
      });
    });
  const other = new Uint8Array(32);
  assert.equal(await ask(""), 401);
  assert.equal(await ask(mintRelayToken(other, host.id)), 401);
  assert.equal(await ask(mintRelayToken(TEST_RELAY_KEY, "bh_another")), 401);
  assert.equal(await ask(mintRelayToken(TEST_RELAY_KEY, host.id, Date.now() - 300_000)), 401);
  const valid = mintRelayToken(TEST_RELAY_KEY, host.id);
  assert.equal(await ask(valid, `${relayPath(host.id)}/host/1`), 404);
  assert.equal(await ask(valid, `${relayPath(host.id)}/link/999`), 426);
  const unknown = "bh_unknownunkno";
  assert.equal(await ask(mintRelayToken(TEST_RELAY_KEY, unknown), `${relayPath(unknown)}${path}`), 502);
});

test("when the process that relays has ended, another one is used", async () => {
  const other = await startRelay();
  const second = await hosts.open({}, { relay: { key: TEST_RELAY_KEY, url: other.url } });
  other.relays(second);
  await near.close(false);
  relay.close();
  await waitFor(
    () =>
      read(far).then(
        () => true,
        () => false,
      ),
    "the connection through the other process",
  );
  const [host] = await hosts.db.select().from(browserHosts);
  assert.equal(host?.relayUrl, other.url);
  assert.equal(loads, 1);
  await second.close(false);
  other.close();
});

/** Starts the HTTP server of a process that relays. */
async function startRelay() {
  const server = createServer((_, response) => response.writeHead(404).end());
  const sockets = new Set<Duplex>();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    relays: (process: TestProcess) =>
      server.on("upgrade", (request, socket, head) => {
        sockets.add(socket);
        process.relay?.(request, socket, head);
      }),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
