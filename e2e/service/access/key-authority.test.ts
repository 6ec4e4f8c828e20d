import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { connectClient } from "#lib/api/live/testing.ts";
import { readLoginCommand } from "#lib/commands/login/read-command.ts";
import { runLoginCommand } from "#lib/commands/login/run-login-command.ts";
import { openOperatorClient } from "#lib/commands/open-operator-client.ts";
import { readEnv } from "#lib/server/env.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { listToolsRequest } from "../mcp-server/list-tools-request.ts";
import { signIn } from "../testing.ts";

// Two processes share a database. A key, a link or a login is revoked or restricted in one process or by a command. The
// connections that were opened with it at the other process must end.

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

/** Calls an operation as a signed-in operator. */
async function operate<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const cookie = await signIn(first);
  const headers = { cookie, origin: first.env.baseUrl };
  return (await first.call(method, path, body, headers)).json() as Promise<Answer>;
}
async function createKey(): Promise<Key> {
  const wanted = { ownerId: "owner", name: "of the test" };
  const { key, record } = await operate<{ key: string; record: { id: string } }>(
    "POST",
    "/actions/keys",
    wanted,
  );
  return { key, id: record.id };
}

/**
 * Creates a session. At the second process, opens a socket and a stream of the session with `key`, and requests a user
 * token.
 */
async function openAll({ key }: Key) {
  const { sessionId, streamUrl } = await first.create("wait");
  const authorization = `Bearer ${key}`;
  const connect = () =>
    connectClient(
      new WebSocket(`${second.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
        headers: { authorization },
      }),
    );
  const socket = connect();
  await socket.ready();
  const stream = await fetch(second.baseUrl + streamUrl, { headers: { authorization } });
  assert.equal(stream.status, 200);
  const minted = await second.call("POST", `/api/sessions/${sessionId}/mcp-token`, undefined, {
    authorization,
  });
  const { token } = (await minted.json()) as { token: string };
  const listTools = () => fetch(`${second.baseUrl}/api/mcp`, listToolsRequest(token));
  assert.equal((await listTools()).status, 200);
  return { socket, stream, listTools, connect };
}

const roleOf = ({ frames }: ReturnType<typeof connectClient>) =>
  frames.flatMap((frame) => (frame.type === "ready" ? [frame.data.role] : []))[0];

/** Makes a change, and waits until `ended` resolves. Nothing but the change ends what it waits for. */
async function endsAfter<Value>(change: () => Promise<unknown>, ended: () => Promise<Value>): Promise<Value> {
  const end = ended();
  await change();
  return end;
}

async function assertEnded({ socket, stream, listTools }: Awaited<ReturnType<typeof openAll>>) {
  assert.deepEqual(await socket.ended(), { code: 4001, reason: "the API key was revoked" });
  // The stream ends although the run continues, because the key was revoked.
  await stream.text();
  assert.equal((await listTools()).status, 401);
}

describe("an API key", () => {
  test("that is revoked ends its sockets, streams and user tokens, also in other processes", async () => {
    const [revokedKey, otherKey] = [await createKey(), await createKey()];
    const [ended, open] = [await openAll(revokedKey), await openAll(otherKey)];
    await endsAfter(
      () => operate("DELETE", `/actions/keys/${revokedKey.id}`),
      () => ended.socket.ended(),
    );
    await assertEnded(ended);
    await open.socket.settle();
    assert.equal((await open.listTools()).status, 200);
    open.socket.socket.close();
    await open.stream.body?.cancel();
  });

  test("that is rotated without an overlap ends them too", async () => {
    const key = await createKey();
    const ended = await openAll(key);
    await operate("POST", `/actions/keys/${key.id}/rotate`, { overlapHours: 0 });
    await assertEnded(ended);
  });

  test("that the command revokes in its own process ends them too", async () => {
    const key = await createKey();
    const ended = await openAll(key);
    const client = await openOperatorClient(readEnv({ ...variables, DATA_DIR: first.dataDir }));
    assert.equal((await client.request("DELETE", `/actions/keys/${key.id}`)).status, 200);
    await client.close();
    await assertEnded(ended);
  });

  test("that loses a scope ends the connections that need it; sockets can reconnect as viewers, and streams continue", async () => {
    const key = await createKey();
    const { socket, stream, listTools, connect } = await openAll(key);
    assert.equal(roleOf(socket), "drive");
    const narrow = (scopes: string[]) => operate("PATCH", `/actions/keys/${key.id}`, { scopes });
    const end = await endsAfter(
      () => narrow(["sessions:read"]),
      () => socket.ended(),
    );
    assert.deepEqual(end, { code: 1013, reason: "the scopes of the API key changed; connect again" });
    assert.equal((await listTools()).status, 401);
    const again = connect();
    await again.ready();
    assert.equal(roleOf(again), "view");

    const reader = stream.body?.getReader();
    const read = async () => {
      while (!(await reader?.read())?.done);
    };
    await endsAfter(
      () => narrow(["sessions:write"]),
      () => Promise.all([again.ended(), read()]),
    );
    const late = await connect().ended();
    assert.ok(late && "status" in late && late.status === 403);
  });

  test("that is revoked ends a running tool call of its user token", async () => {
    const key = await createKey();
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

describe("a share link that is revoked", () => {
  test("ends its sockets, also in other processes", async () => {
    const { sessionId } = await first.create("wait");
    const links = `/api/sessions/${sessionId}/share-links`;
    const created = await first.call("POST", links, { role: "drive" });
    const { shareUrl, record } = (await created.json()) as { shareUrl: string; record: { id: string } };
    const token = new URL(shareUrl, first.env.baseUrl).searchParams.get("key");
    const socket = connectClient(
      new WebSocket(`${second.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
        headers: { cookie: `share=${token}`, origin: second.env.baseUrl },
      }),
    );
    await socket.ready();
    const end = await endsAfter(
      () => first.call("DELETE", `${links}/${record.id}`),
      () => socket.ended(),
    );
    assert.deepEqual(end, { code: 4001, reason: "the share link was revoked" });
  });
});

describe("a login of the operator", () => {
  const asOperator = (service: HttpTestService, cookie: string, method: string, path: string) =>
    service.call(method, path, undefined, { cookie, origin: service.env.baseUrl, authorization: "" });
  const listAt = async (service: HttpTestService, cookie: string) => {
    const response = await asOperator(service, cookie, "GET", "/actions/logins");
    const { data } = (await response.json()) as { data?: { id: string; isCurrent: boolean }[] };
    return { status: response.status, data: data ?? [] };
  };

  test("that is ended in one process is refused by the other at once", async () => {
    const [mine, other] = [await signIn(first), await signIn(first)];
    const listed = await listAt(second, other);
    const current = listed.data.find(({ isCurrent }) => isCurrent);
    assert.ok(current && listed.data.length >= 2);
    assert.equal((await asOperator(first, mine, "DELETE", `/actions/logins/${current.id}`)).status, 200);
    assert.equal((await listAt(second, other)).status, 401);
    const { data } = await listAt(second, mine);
    assert.ok(data.every(({ id }) => id !== current.id));
    assert.equal((await asOperator(first, mine, "DELETE", "/actions/logins/lgn_none")).status, 404);
  });

  test("ends by logout, which removes the cookie and is refused to other sites", async () => {
    const cookie = await signIn(first);
    const headers = { cookie, origin: "https://evil.example", authorization: "" };
    assert.equal((await first.call("POST", "/actions/logout", undefined, headers)).status, 403);
    const response = await asOperator(second, cookie, "POST", "/actions/logout");
    assert.match(response.headers.getSetCookie()[0] ?? "", /^operator=; Path=\/; .*Max-Age=0/);
    for (const service of [first, second]) assert.equal((await listAt(service, cookie)).status, 401);
  });

  test("is listed and ended by the command", async () => {
    const [one, two] = [await signIn(first), await signIn(second)];
    const client = await openOperatorClient(readEnv({ ...variables, DATA_DIR: first.dataDir }));
    const run = (...words: string[]) => {
      const command = readLoginCommand(words);
      assert.ok(command.kind !== "help" && command.kind !== "invalid");
      return runLoginCommand(client, command);
    };
    const id = (await listAt(first, one)).data.find(({ isCurrent }) => isCurrent)?.id ?? "";
    const { lines } = await run("list");
    assert.ok(
      lines.some((line) => line.startsWith(`${id}  login link`)),
      lines.join("\n"),
    );
    assert.deepEqual(await run("end", id), { isDone: true, lines: [`The login ${id} has ended.`] });
    assert.equal((await listAt(second, one)).status, 401);
    assert.equal((await listAt(second, two)).status, 200);
    assert.equal((await run("end", "--all")).isDone, true);
    assert.equal((await listAt(second, two)).status, 401);
    assert.deepEqual(await run("list"), { isDone: true, lines: ["No person is signed in."] });
    assert.deepEqual(await run("end", "none"), { isDone: false, lines: ["no such login"] });
    await client.close();
  });
});
