import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { openTestService, signIn, type TestService } from "#e2e/service/testing.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { readEnv } from "#lib/server/env.ts";
import { sendResponse, toWebRequest } from "#lib/server/web-messages.ts";
import { openOperatorClient } from "../open-operator-client.ts";
import { KEYS_USAGE, readKeysCommand } from "./read-command.ts";
import { runKeysCommand } from "./run-key-command.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

type Ran = { code: number | null; out: string; error: string };

/** Runs the command in this process, which is faster than starting a process for each run. */
async function run(words: string[], env: Record<string, string>): Promise<Ran> {
  const command = readKeysCommand(words);
  if (command.kind === "help") return { code: 0, out: KEYS_USAGE, error: "" };
  if (command.kind === "invalid") return { code: 1, out: "", error: `${command.message}\n\n${KEYS_USAGE}` };
  try {
    const client = await openOperatorClient(readEnv(env));
    const { isDone, lines } = await runKeysCommand(client, command).finally(client.close);
    const text = `${lines.join("\n")}\n`;
    return isDone ? { code: 0, out: text, error: "" } : { code: 1, out: "", error: text };
  } catch (error) {
    return { code: 1, out: "", error: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs the command in a child process, as `npm run keys --` does. */
async function runProgram(words: string[], env: Record<string, string>): Promise<Ran> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...words], {
    env: { NODE_ENV: "production", PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ran: Ran = { code: null, out: "", error: "" };
  child.stdout.on("data", (chunk) => {
    ran.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    ran.error += chunk;
  });
  await new Promise((done) => child.once("close", done));
  return { ...ran, code: child.exitCode };
}

const KEY = /^ask_([0-9a-f]{16})_[\w-]{43}$/m;
const match = createPathMatcher(contract);

let service: TestService;
let variables: Record<string, string>;
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "", service.env.baseUrl);
  const { container } = service;
  const webRequest = toWebRequest(request, response, url);
  if (url.pathname === "/login") return sendResponse(response, await container.mounted.logIn(webRequest));
  const found = match(url.pathname);
  if (!found) return void response.writeHead(404).end();
  await sendResponse(response, await container.mounted.serve(found.operations, webRequest, found.params));
});
before(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  service = await openTestService({ PORT: String(port), DATABASE_URL: "", DATABASE_DRIVER: "" });
  variables = { DATA_DIR: service.dataDir, PORT: String(port) };
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
});

/** Creates a key with the command. @param words additional arguments of `create`. */
async function createKey(...words: string[]) {
  const created = await run(["create", ...words], variables);
  const [key = "", id = ""] = KEY.exec(created.out) ?? [];
  assert.equal(created.code, 0, created.error);
  return { key, id };
}

const ask = (key: string, method = "GET", path = "/api/sessions", body?: unknown) =>
  service.call(method, path, body, { authorization: `Bearer ${key}` });

describe("npm run keys", () => {
  it("creates a key that the running service accepts immediately, lists it without its secret, and revokes it", async () => {
    const { key, id } = await createKey("--owner", "acme", "--name", "nightly checks", "--expires", "90d");
    assert.equal((await ask(key)).status, 200);
    const listed = await run(["list", "--owner", "acme"], variables);
    assert.match(
      listed.out,
      new RegExp(`^${id}  acme   nightly checks  sessions:read,sessions:write  .* active until `, "m"),
    );
    assert.ok(!listed.out.includes(key.slice("ask_0123456789abcdef_".length)));
    assert.match((await run(["list", "--owner", "nobody"], variables)).out, /There are no keys yet/);

    const revoked = await run(["revoke", id], variables);
    assert.match(revoked.out, new RegExp(`^${id} of acme \\(nightly checks\\) is revoked`));
    assert.equal((await ask(key)).status, 401);
    assert.equal((await run(["revoke", id], variables)).code, 0, "asking again changes nothing");
    assert.deepEqual(await service.container.services.logins.list(), [], "no command stays signed in");
  });

  it("rotates a key: both keys are valid for the overlap, then the old one expires", async () => {
    const { key, id } = await createKey("--owner", "acme", "--scopes", "sessions:read");
    const rotated = await run(["rotate", id, "--overlap", "1h"], variables);
    const [successor = ""] = KEY.exec(rotated.out) ?? [];
    assert.match(rotated.out, new RegExp(`The old key ${id}: active until`));
    for (const each of [key, successor]) assert.equal((await ask(each)).status, 200);
    assert.equal((await ask(successor, "POST", "/api/session", {})).status, 403, "of the same scopes");

    const [, next = ""] = KEY.exec(successor) ?? [];
    const twice = await run(["rotate", id], variables);
    assert.deepEqual(
      [twice.code, twice.error],
      [1, `this key already has the successor ${next}; rotate that key, or revoke it first\n`],
    );
    const last = await run(["rotate", next, "--overlap", "0h"], variables);
    assert.equal(last.code, 0, last.error);
    assert.equal((await ask(successor)).status, 401);
    const over = await run(["rotate", next], variables);
    assert.deepEqual([over.code, over.error], [1, "this key is revoked or has expired; create a new one\n"]);
  });

  it("changes the scopes of a key at once", async () => {
    const { key, id } = await createKey("--owner", "acme");
    const updated = await run(["update", id, "--scopes", "sessions:read"], variables);
    assert.equal(updated.out, `${id} of acme (unnamed): sessions:read; active.\n`, updated.error);
    assert.equal((await ask(key)).status, 200);
    assert.equal((await ask(key, "POST", "/api/session", {})).status, 403);
    await run(["revoke", id], variables);
    const over = await run(["update", id, "--scopes", "sessions:write"], variables);
    assert.deepEqual([over.code, over.error], [1, "this key is revoked or has expired; create a new one\n"]);
  });

  it("has the running service encrypt its stored secrets again", async () => {
    const rotated = await run(["rotate-encryption"], variables);
    assert.equal(rotated.code, 0, rotated.error);
    assert.match(
      rotated.out,
      /^0 stored values were encrypted with the current ENCRYPTION_KEY\.\n0 are left\. /,
    );
  });

  it("prints the error message of the operation and changes nothing", async () => {
    const cases: [string[], RegExp][] = [
      [["create", "--scopes", "sessions:admin"], /^scopes\[0\]: must be "sessions:read" or "sessions:write"/],
      [["create", "--owner", "a,b"], /^ownerId: must not contain/],
      [["revoke", "none"], /^no such key/],
      [["rotate", "../../x"], /^no such key/],
      [["update", "none", "--scopes", "sessions:read"], /^no such key/],
      [["list", "--owner", ""], /^owner: must not be empty/],
      [["explode"], /^Unknown command: explode\.\n\nUsage: /],
    ];
    for (const [words, sentence] of cases) {
      const answered = await run(words, variables);
      assert.equal(answered.code, 1, words.join(" "));
      assert.match(answered.error, sentence);
      assert.equal(answered.out, "");
    }
  });

  it("fails if another process uses the data folder and does not answer", async () => {
    const answered = await runProgram(["list"], { ...variables, PORT: "9" });
    assert.equal(answered.code, 1);
    assert.match(answered.error, /is in use by process \d+.*does not answer at http:\/\/127\.0\.0\.1:9/);
  });

  it("creates neither a key nor a database in a folder that no service has used", async () => {
    const elsewhere = { ...variables, DATA_DIR: join(service.dataDir, "elsewhere") };
    const answered = await run(["create"], elsewhere);
    assert.equal(answered.code, 1);
    assert.match(
      answered.error,
      /^there is no database in .*elsewhere: run this with the service's own DATA_DIR/,
    );
    assert.equal(existsSync(elsewhere.DATA_DIR), false);
  });

  it("works on a Postgres server directly, whether or not the service runs", async (t) => {
    const postgres = await startTestPostgres();
    t.after(() => postgres.stop());
    const url = await createDatabase(postgres.url, "keys");
    const alone = { DATA_DIR: service.dataDir, DATABASE_URL: url };
    const created = await runProgram(["create", "--owner", "acme"], alone);
    assert.equal(created.code, 0);
    assert.match(created.out, KEY, created.error);
    assert.match((await run(["list"], alone)).out, /acme .* active$/m);
  });
});

describe("the operations of the keys command", () => {
  const operate = (headers: Record<string, string>) =>
    service.call("POST", "/actions/keys", { ownerId: "acme", name: "x" }, headers);

  it("require the operator's login: API keys and other origins are refused", async () => {
    const cookie = await signIn(service);
    const origin = service.env.baseUrl;
    assert.equal((await operate({ cookie, origin })).status, 201);
    assert.equal((await operate({ origin })).status, 401);
    assert.equal((await operate({ cookie, origin: "https://evil.example" })).status, 403);
    assert.equal((await operate({ cookie })).status, 403);
  });
});

describe("a key's scopes", () => {
  it("limit its operations: a missing scope is a 403 that names the scope and reveals nothing about the session", async () => {
    const reader = await createKey("--owner", "owner", "--scopes", "sessions:read");
    const writer = await createKey("--owner", "owner", "--scopes", "sessions:write");
    service.model.respondWith(() => ({ text: "Done." }));
    const { sessionId } = await service.create("mine");
    const session = `/api/sessions/${sessionId}`;
    const lack = (scope: string) => ({
      success: false,
      error: `this API key lacks the scope ${scope}`,
      code: "forbidden",
    });
    for (const [key, method, path, scope] of [
      [reader.key, "POST", "/api/session", "sessions:write"],
      [reader.key, "DELETE", session, "sessions:write"],
      [reader.key, "POST", "/api/sessions/ses_none/agent/cancel", "sessions:write"],
      [writer.key, "GET", session, "sessions:read"],
      [writer.key, "GET", `${session}/messages`, "sessions:read"],
      [writer.key, "HEAD", session, "sessions:read"],
    ] as const) {
      const refused = await ask(key, method, path);
      assert.equal(refused.status, 403, `${method} ${path}`);
      if (method !== "HEAD") assert.deepEqual(await refused.json(), lack(scope));
    }
    assert.equal((await ask(reader.key, "GET", session)).status, 200);
    assert.equal((await ask(writer.key, "POST", `${session}/agent/cancel`)).status, 202);
  });

  it("with sessions:read alone get a share link that can only view", async () => {
    const reader = await createKey("--owner", "owner", "--scopes", "sessions:read");
    const { sessionId, shareUrl } = await service.create("mine");
    const list = await (await ask(reader.key, "GET", "/api/sessions?limit=1")).json();
    const { session } = await (await ask(reader.key, "GET", `/api/sessions/${sessionId}`)).json();
    assert.equal(list.data[0].shareUrl, session.shareUrl);
    const post = (link: string) => {
      const cookie = `share=${new URL(link, service.env.baseUrl).searchParams.get("key")}`;
      const headers = { authorization: "", cookie, origin: service.env.baseUrl };
      return service.call("POST", `/s/${sessionId}/actions/cancel`, undefined, headers);
    };
    const refused = await post(session.shareUrl);
    assert.equal(refused.status, 403);
    assert.match((await refused.json()).error, /this share link may view, not drive/);
    assert.equal((await post(shareUrl)).status, 202);
  });
});
