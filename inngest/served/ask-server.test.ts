import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { askServer } from "./ask-server.ts";

const SIGNING_KEY = `signkey-test-${"5e".repeat(32)}`;

/** Asks a server that answers with this listener. `requests`: path and authorization of each request. */
async function ask(listener: RequestListener) {
  const requests: [string | undefined, string | undefined][] = [];
  const server = createServer((request, response) => {
    requests.push([request.url, request.headers.authorization]);
    listener(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // The cast is safe because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const client = { id: "my-app", apiBaseUrl: `http://127.0.0.1:${port}`, signingKey: SIGNING_KEY };
  const answer = await askServer(client);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  return { answer, requests, client };
}

const respond =
  (body: string, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body);

test("asks for the functions of the app, with the hash of the signing key", async () => {
  const { answer, requests } = await ask(respond('[{"id":"my-app-one"}]'));
  assert.equal(answer, "registered");
  assert.equal(requests[0]?.[0], "/v1/apps/my-app/functions");
  assert.match(requests[0]?.[1] ?? "", /^Bearer signkey-test-[0-9a-f]{64}$/);
  assert.ok(!requests[0]?.[1]?.includes("5e5e"), "the key itself is not sent");
});

for (const [body, status, expected] of [
  ["null", 200, "unregistered"],
  ["[]", 200, "unregistered"],
  ['{"data":[]}', 200, "unclear"],
  ["<html>", 200, "unclear"],
  ['{"error":"no auth"}', 401, "unclear"],
  ["", 404, "unclear"],
  ["", 302, "unclear"],
  ["", 503, "unreachable"],
] as const)
  test(`reads a ${status} with ${JSON.stringify(body)} as ${expected}`, async () => {
    assert.equal((await ask(respond(body, status))).answer, expected);
  });

test("a server that is gone, or breaks the connection, is unreachable", async () => {
  const { answer, client } = await ask((request) => void request.socket.destroy());
  assert.equal(answer, "unreachable");
  assert.equal(await askServer(client), "unreachable", "the server has ended");
});
