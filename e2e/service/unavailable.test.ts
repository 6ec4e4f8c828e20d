import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { createRequestListener } from "#lib/server/request-listener.ts";
import { openTestService, TEST_KEY, type TestService, waitUntil } from "./testing.ts";

const run = promisify(execFile);

test("while the database is unavailable, exactly the operations that need it answer 503 with Retry-After", async (t) => {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const service = await openTestService({
    DATABASE_URL: await createDatabase(postgres.url, "unavailable"),
    DATABASE_DRIVER: "pg",
  });
  t.after(() => service.close());
  const server = createServer((request, response) => handleRequest(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { handleRequest } = createRequestListener({
    container: service.container,
    env: { ...service.env, baseUrl },
    isDev: false,
    handle: async (_request, response) => void response.end("a page"),
    logger: { error: () => {} },
  });
  const { sessionId, statusUrl, streamUrl, shareUrl } = await service.create("Say something.");
  await service.completed(statusUrl);

  const call = (method: string, path: string, body?: unknown) =>
    fetch(baseUrl + path, {
      method,
      redirect: "manual" as const,
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
    assert.equal(stranger.status, 502, "a key in the database cannot be checked");
  });
  assert.equal((await call("GET", statusUrl)).status, 200);
});

test("polls and creations during restarts of Postgres are answered with success or 503, never 500", async (t) => {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const service = await openTestService({
    DATABASE_URL: await createDatabase(postgres.url, "restarting"),
    DATABASE_DRIVER: "pg",
  });
  t.after(() => service.close());
  const { statusUrl } = await service.create("Say something.");
  await service.completed(statusUrl);
  const answers = new Map<number, number>();
  let isOver = false;
  const message = { role: "user", parts: [{ type: "text", text: "Hello" }] };
  const count = async (sending: Promise<Response>) => {
    const answer = await sending;
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
    if (answer.status === 503) assert.ok(answer.headers.get("retry-after"));
  };
  const pollers = Array.from({ length: 24 }, async (_, index) => {
    while (!isOver)
      await count(
        index % 6 === 0
          ? service.call("POST", "/api/session", { messages: [message], capabilities: { sandbox: false } })
          : service.call("GET", statusUrl),
      );
  });
  const served = () => answers.get(200) ?? 0;
  for (const mode of ["fast", "immediate", "fast", "immediate"] as const) {
    const before = served();
    await waitUntil(() => served() > before + 20, "polls are answered");
    await postgres.restart(mode);
  }
  const before = served();
  await waitUntil(() => served() > before + 20, "polls are answered after the last restart");
  isOver = true;
  await Promise.all(pollers);
  assert.deepEqual(
    [...answers.keys()].filter((status) => ![200, 201, 503].includes(status)),
    [],
  );
  assert.ok(answers.get(503));
});

test("a full disk is answered with 503 and named in the readiness, and the service recovers", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("mounting a small file system takes root");
  const folder = await mkdtemp(join(tmpdir(), "full-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=256m", "tmpfs", folder]);
  let service: TestService | undefined;
  t.after(async () => {
    await service?.close({ keepFiles: true });
    await run("umount", ["-l", folder]);
    await rm(folder, { recursive: true, force: true });
  });
  // Uses the embedded database on the full disk, even if the other tests run on a Postgres server.
  const opened = await openTestService({ DATABASE_URL: "", DATABASE_DRIVER: "" }, folder);
  service = opened;
  // Random bytes, because the database would compress other text.
  const text = randomBytes(60_000).toString("base64");
  const body = { messages: [{ role: "user", parts: [{ type: "text", text }] }] };
  const create = () => opened.call("POST", "/api/session", { ...body, capabilities: { sandbox: false } });
  assert.equal((await create()).status, 201);
  const readiness = async () => {
    const answer = await opened.call("GET", "/api/ready");
    return { status: answer.status, ...(await answer.json()) };
  };
  assert.equal((await readiness()).checks.database.ok, true);

  const filling = await open(join(folder, "filling"), "w");
  try {
    for (;;) await filling.write(Buffer.alloc(65_536));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  }
  await filling.close();
  // The first sessions fit into free space of the table files. Creation fails only when the files have to grow.
  let refused = await create();
  await waitUntil(async () => {
    if (refused.status === 201) refused = await create();
    return refused.status !== 201;
  }, "the tables have to grow");
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "30");
  assert.deepEqual(await refused.json(), {
    success: false,
    code: "unavailable",
    error: "the disk is full, so that nothing can be stored",
  });
  const { status, checks } = await readiness();
  assert.equal(status, 503);
  assert.deepEqual(checks.database, { ok: false, detail: "DATA_DIR is on a full disk (0 MiB free)" });
  await rm(join(folder, "filling"));
  assert.equal((await create()).status, 201);
  assert.equal((await readiness()).checks.database.ok, true);
});

test("below DISK_FREE_MIN_MB the readiness says so, tools write nothing, and turns go on", async (t) => {
  const service = await openTestService({ SANDBOX: "unconfined", DISK_FREE_MIN_MB: "1000000000" });
  t.after(() => service.close());
  const problem =
    /^(?:Error: )?the service's disk has \d+ MiB free, and 1000000000 MiB must stay free; nothing can be written/;
  const answer = await service.call("GET", "/api/ready");
  assert.equal(answer.status, 503);
  const { checks } = await answer.json();
  assert.equal(checks.database.ok, true);
  assert.equal(checks.sandbox.ok, false);
  assert.match(checks.sandbox.detail, problem);

  const calls = [
    { name: "write_file", arguments: { path: "a.txt", content: "a" } },
    { name: "run_shell", arguments: { command: "echo a > a.txt" } },
    { name: "list_files", arguments: {} },
  ];
  service.model.respondWith(({ answersSoFar }) => {
    const call = calls[answersSoFar];
    return call ? { toolCalls: [call] } : { text: "Done." };
  });
  const { statusUrl } = await service.create("Write something.");
  await service.completed(statusUrl);
  const [written = "", ran = "", listed = ""] = service.model.requests.at(-1)?.toolResults ?? [];
  assert.match(written, problem);
  assert.match(ran, problem);
  assert.equal(listed, "[the folder is empty]");
});

test("a start fails with a sentence if the data folder is not writable, and changes nothing", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("mounting a file system takes root");
  const folder = await mkdtemp(join(tmpdir(), "read-only-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]);
  t.after(async () => {
    await run("umount", ["-l", folder]);
    await rm(folder, { recursive: true, force: true });
  });
  await run("mount", ["-o", "remount,ro", folder]);
  await assert.rejects(
    openTestService({ DATABASE_URL: "", DATABASE_DRIVER: "", SECURITY_LOG: "" }, folder),
    /^Error: DATA_DIR: \S+ cannot be written \(EROFS\); make room there, or name another folder$/,
  );
});
