import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { connectClient } from "#lib/api/live/testing.ts";
import { openKeyDesk } from "#lib/commands/keys/open-key-desk.ts";
import { readEnv } from "#lib/server/env.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";

// Keys are revoked in one process, or by a command; connections are open in another one on the same database.

let postgres: TestPostgres;
let first: HttpTestService;
let second: HttpTestService;
let variables: Record<string, string>;
before(async () => {
  postgres = await startTestPostgres();
  variables = {
    DATABASE_URL: await createDatabase(postgres.url, "authority"),
    DATABASE_DRIVER: "pg",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  first = await openHttpTestService(variables);
  second = await openHttpTestService(variables);
  for (const { model } of [first, second])
    model.respondWith(() => ({ text: "Never.", hold: new Promise(() => {}) }));
});
after(async () => {
  await first.close();
  await second.close();
  await postgres.stop();
});

type Key = { key: string; id: string };

/** Calls what is for the operator of the service. */
async function operate<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const { login } = first.container.services;
  const cookie = login.redeem(login.issueToken())?.split(";")[0] ?? "";
  const headers = { cookie, origin: first.env.baseUrl };
  return (await first.call(method, path, body, headers)).json() as Promise<Answer>;
}
async function makeKey(): Promise<Key> {
  const wanted = { ownerId: "owner", name: "of the test" };
  const { key, record } = await operate<{ key: string; record: { id: string } }>(
    "POST",
    "/actions/keys",
    wanted,
  );
  return { key, id: record.id };
}

/** Opens a socket, a stream and a user token with a key, at the second process. */
async function openAll({ key }: Key) {
  const { sessionId, streamUrl } = await first.create("wait");
  const authorization = `Bearer ${key}`;
  const socket = connectClient(
    new WebSocket(`${second.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
      headers: { authorization },
    }),
  );
  await socket.ready();
  const stream = await fetch(second.baseUrl + streamUrl, { headers: { authorization } });
  assert.equal(stream.status, 200);
  const minted = await second.call("POST", `/api/sessions/${sessionId}/mcp-token`, undefined, {
    authorization,
  });
  const { token } = (await minted.json()) as { token: string };
  const listTools = () =>
    fetch(`${second.baseUrl}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  assert.equal((await listTools()).status, 200);
  return { socket, stream, listTools };
}

async function assertEnded({ socket, stream, listTools }: Awaited<ReturnType<typeof openAll>>) {
  assert.deepEqual(await socket.ended(), { code: 4001, reason: "the API key was revoked" });
  // The run goes on: only the credential's end can end the stream.
  await stream.text();
  assert.equal((await listTools()).status, 401);
}

describe("a key that ends", () => {
  test("by revocation takes its sockets, streams and user tokens with it, in other processes too", async () => {
    const [gone, kept] = [await makeKey(), await makeKey()];
    const [ended, open] = [await openAll(gone), await openAll(kept)];
    await operate("DELETE", `/actions/keys/${gone.id}`);
    await assertEnded(ended);
    await open.socket.settle();
    assert.equal((await open.listTools()).status, 200);
    open.socket.socket.close();
    await open.stream.body?.cancel();
  });

  test("by rotation without an overlap does so as well", async () => {
    const key = await makeKey();
    const ended = await openAll(key);
    await operate("POST", `/actions/keys/${key.id}/rotate`, { overlapHours: 0 });
    await assertEnded(ended);
  });

  test("by the command, which is a process of its own, does so as well", async () => {
    const key = await makeKey();
    const ended = await openAll(key);
    const desk = await openKeyDesk(readEnv({ ...variables, DATA_DIR: first.dataDir }));
    assert.equal((await desk.ask("DELETE", `/actions/keys/${key.id}`)).status, 200);
    await desk.close();
    await assertEnded(ended);
  });

  test("ends a tool call of its user token that is under way", async () => {
    const key = await makeKey();
    const { sessionId } = await first.create("wait");
    const minted = await second.call("POST", `/api/sessions/${sessionId}/mcp-token`, undefined, {
      authorization: `Bearer ${key.key}`,
    });
    const { token } = (await minted.json()) as { token: string };
    const call = await fetch(`${second.baseUrl}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 7,
        method: "tools/call",
        params: { name: "run_shell", arguments: { command: "sleep 60" } },
      }),
    });
    assert.equal(call.status, 200);
    await operate("DELETE", `/actions/keys/${key.id}`);
    assert.ok(!(await call.text()).includes('"result"'));
  });
});
