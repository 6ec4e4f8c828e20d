import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { waitUntil } from "#e2e/service/testing.ts";
import { createHttpServer } from "./create-http-server.ts";
import { listenForTests } from "./testing.ts";

/** Sends a request. @returns its status; undefined if the server closed the connection. */
async function call(port: number, agent: Agent): Promise<number | undefined> {
  try {
    const [response] = (await once(get({ port, host: "127.0.0.1", agent }), "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode;
  } catch {
    return undefined;
  }
}

test("beyond the limit of connections, idle ones make room for new ones", async (context) => {
  const server = createHttpServer((_request, response) => void response.end("here"), 2);
  const port = await listenForTests(server);
  const agents = [0, 1, 2].map(() => new Agent({ keepAlive: true }));
  context.after(() => {
    for (const agent of agents) agent.destroy();
  });
  const [first, second, third] = agents as [Agent, Agent, Agent];
  assert.deepEqual([await call(port, first), await call(port, second)], [200, 200]);
  await waitUntil(async () => (await call(port, third)) === 200, "a third client is served");
});
