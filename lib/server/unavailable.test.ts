import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { createRequestListener } from "./request-listener.ts";
import { openTestService, TEST_KEY } from "./testing.ts";

test("a database that is away is 503 with Retry-After for every operation that asks it, and no other", async (t) => {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const service = await openTestService({
    DATABASE_URL: await createDatabase(postgres.url, "unavailable"),
    DATABASE_DRIVER: "pg",
  });
  t.after(() => service.close());
  const server = createServer((request, response) => listen(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listen = createRequestListener({
    ...{ container: service.container, env: { ...service.env, baseUrl }, isDev: false },
    handle: async (_request, response) => void response.end("a page"),
    logger: { error: () => {} },
  });
  const { sessionId, statusUrl, streamUrl, shareUrl } = await service.create("Say something.");
  await service.completed(statusUrl);

  const call = (method: string, path: string, body?: unknown) =>
    fetch(baseUrl + path, {
      ...{ method, redirect: "manual" as const },
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const at = `/api/sessions/${sessionId}`;
  await postgres.restart("fast", async () => {
    const message = { role: "user", parts: [{ type: "text", text: "Hello" }] };
    for (const answer of await Promise.all([
      call("POST", "/api/session", { messages: [message] }),
      call("POST", `${at}/agent/messages`, { text: "Hello" }),
      call("POST", `${at}/annotations/webhook`, { event: "submit", annotations: [] }),
      ...[statusUrl, streamUrl, shareUrl, "/api/sessions", `${at}/agent/status`, `${at}/browser`].map(
        (path) => call("GET", path),
      ),
    ])) {
      assert.deepEqual(
        [answer.status, answer.headers.get("retry-after"), await answer.json()],
        [503, "1", { success: false, error: "the database is out of reach; try again", code: "unavailable" }],
        answer.url,
      );
    }
    assert.equal((await call("GET", "/api/health")).status, 200);
    assert.equal((await call("GET", "/api/sessions?limit=x")).status, 400);
    const stranger = await fetch(baseUrl + statusUrl, {
      headers: { authorization: "Bearer ask_a_stranger" },
    });
    assert.equal(stranger.status, 502, "a key of the store could not be checked");
  });
  assert.equal((await call("GET", statusUrl)).status, 200);
});
