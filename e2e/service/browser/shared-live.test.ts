import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { connectClient, type TestClient } from "#lib/api/live/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY } from "../testing.ts";

// Simulates two processes with two services that share one Postgres. A socket receives the same events from either
// service.

let postgres: TestPostgres;
let first: HttpTestService;
let second: HttpTestService;
let open: () => Promise<HttpTestService>;
before(async () => {
  postgres = await startTestPostgres();
  const variables = {
    DATABASE_URL: await createDatabase(postgres.url, "live"),
    DATABASE_DRIVER: "pg",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  open = async () => {
    const service = await openHttpTestService(variables);
    service.model.respondWith(() => ({ text: "Never.", hold: new Promise(() => {}) }));
    return service;
  };
  first = await open();
  second = await open();
});
after(async () => {
  await first.close();
  await second.close();
  await postgres.stop();
});

async function connect(service: HttpTestService, sessionId: string): Promise<TestClient> {
  const client = connectClient(
    new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
      headers: { "x-service-api-key": TEST_KEY },
    }),
  );
  await client.ready();
  return client;
}
const holderOf = ({ frames }: TestClient) =>
  frames.flatMap((frame) => (frame.type === "control" ? [frame.data.holder] : [])).at(-1) ?? null;
const watchingOf = ({ frames }: TestClient) =>
  frames
    .flatMap((frame) => (frame.type === "ready" || frame.type === "watching" ? [frame.data.watching] : []))
    .at(-1);

describe("sockets of several processes", () => {
  test("receive the number of viewers of all processes when one joins, leaves or ends with its process", async () => {
    const { sessionId } = await first.create("wait");
    const firstClient = await connect(first, sessionId);
    const secondClient = await connect(second, sessionId);
    for (const client of [firstClient, secondClient]) await client.until(() => watchingOf(client) === 2);
    const more = await connect(second, sessionId);
    for (const client of [firstClient, secondClient, more])
      await client.until(() => watchingOf(client) === 3);
    more.socket.close();
    for (const client of [firstClient, secondClient]) await client.until(() => watchingOf(client) === 2);

    const third = await open();
    const thirdClient = await connect(third, sessionId);
    for (const client of [firstClient, secondClient, thirdClient])
      await client.until(() => watchingOf(client) === 3);
    await third.close();
    for (const client of [firstClient, secondClient]) await client.until(() => watchingOf(client) === 2);
    for (const client of [firstClient, secondClient]) client.socket.close();
  });

  test("receive who has control, which one person has at a time", async () => {
    const { sessionId } = await first.create("wait");
    const firstClient = await connect(first, sessionId);
    const secondClient = await connect(second, sessionId);
    firstClient.send({ type: "control.take" });
    for (const [client, holder] of [
      [firstClient, "you"],
      [secondClient, "someone"],
    ] as const)
      await client.until(() => holderOf(client) === holder);
    secondClient.send({ type: "control.take" });
    for (const [client, holder] of [
      [firstClient, "someone"],
      [secondClient, "you"],
    ] as const)
      await client.until(() => holderOf(client) === holder);
    const { control: firstControl } = first.container.services;
    const { control: secondControl } = second.container.services;
    assert.equal(firstControl.holderOf(sessionId), secondControl.holderOf(sessionId));
    secondClient.socket.close();
    await firstClient.until(() => holderOf(firstClient) === null);
    firstClient.socket.close();
  });

  test("receive changes of the queue", async () => {
    const { sessionId } = await first.create("wait");
    const secondClient = await connect(second, sessionId);
    const path = `/api/sessions/${sessionId}/agent/messages`;
    const queued = await (await first.call("POST", path, { text: "then" })).json();
    assert.equal(queued.queued, true);
    await secondClient.until(() => secondClient.frames.some(({ type }) => type === "queue"));
    secondClient.socket.close();
  });
});
