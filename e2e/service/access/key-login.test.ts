import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { logins } from "#db/schema/index.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { type Operation, scopeOf } from "#lib/api/contract/operation.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { OTHER_KEY, signIn, TEST_KEY } from "../testing.ts";
import { ask, startParked } from "../waiting/waiting-testing.ts";

type HomeItem = { id: string; sessionId: string; sessionTitle: string; title: string; shareUrl: string };

// The tests of rights are generated from the contract, so they cover new operations too.

let service: HttpTestService;
let mine: { sessionId: string };
before(async () => {
  service = await openHttpTestService({ RATE_LIMIT_FAILED_AUTH: "3" });
  service.model.respondWith(() => ({ text: "Done." }));
  const created = await service.create("mine");
  await service.completed(created.statusUrl);
  mine = created;
});
after(() => service.close());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.env.baseUrl, ...headers },
    body: JSON.stringify(body),
  });

/** Signs in with a key. @returns the cookie of the login. */
async function signInWith(apiKey: string): Promise<string> {
  const response = await post({ apiKey });
  assert.equal(response.status, 200);
  const [set = ""] = response.headers.getSetCookie();
  assert.match(set, /^operator=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  return set.split(";")[0] ?? "";
}
const call = (cookie: string, method: string, path: string, body?: unknown) =>
  service.call(method, path, body, { cookie, origin: service.env.baseUrl, authorization: "" });

/** Creates a key in the database, as the operator does. */
async function createKey(more: Record<string, unknown> = {}): Promise<{ key: string; id: string }> {
  const wanted = { ownerId: "owner", name: "of the test", ...more };
  const response = await call(await signIn(service), "POST", "/actions/keys", wanted);
  const { key, record } = (await response.json()) as { key: string; record: { id: string } };
  return { key, id: record.id };
}
const statusOf = async (cookie: string) => (await call(cookie, "GET", "/actions/sessions")).status;

const all = Object.entries<Operation>(contract);
const pathOf = ({ path }: Operation, sessionId: string) =>
  path.replace(":sessionId", sessionId).replace(/:(\w+)/g, (_, name: string) => `none-${name}`);

describe("a person who signed in with an API key", () => {
  it("may call the operations for people with the scopes of the key, and no operation of the operator", async () => {
    const cookies = {
      both: await signInWith((await createKey()).key),
      read: await signInWith((await createKey({ scopes: ["sessions:read"] })).key),
    };
    const operations = all.filter(([, { auth }]) => auth.kind === "login" || auth.kind === "person");
    assert.ok(operations.length >= 12, `${operations.length} operations`);
    for (const [name, operation] of operations)
      for (const [scopes, cookie] of Object.entries(cookies)) {
        // A login that logs out can call nothing after that; another test logs out.
        if (name === "logOut") continue;
        // The body is refused after the rights have been checked, so nothing changes.
        const hasBody = operation.body !== undefined;
        const sessionId = operation.method === "DELETE" ? "ses_none" : mine.sessionId;
        const response = await call(
          cookie,
          operation.method,
          pathOf(operation, sessionId),
          hasBody ? 1 : undefined,
        );
        const isRefused =
          operation.auth.kind === "login" || (scopes === "read" && scopeOf(operation) === "sessions:write");
        const { code } = (await response.json()) as { code?: string };
        if (isRefused) assert.deepEqual([response.status, code], [403, "forbidden"], `${name} (${scopes})`);
        else assert.ok(response.status !== 403 && response.status !== 401, `${name} (${scopes})`);
      }
  });

  it("is refused by every operation for API keys and for visitors of a session", async () => {
    const cookie = await signInWith(TEST_KEY);
    const others = all.filter(([, { auth }]) => auth.kind === "key" || auth.kind === "share");
    for (const [name, operation] of others) {
      const { status } = await call(cookie, operation.method, pathOf(operation, mine.sessionId));
      assert.ok(status === 401 || status === 404, `${name} answered ${status}`);
    }
  });

  it("sees, renames and deletes only sessions of the key's owner", async () => {
    const other = await signInWith(OTHER_KEY);
    const path = `/actions/sessions/${mine.sessionId}`;
    const { data } = (await (await call(other, "GET", "/actions/sessions")).json()) as { data: unknown[] };
    assert.deepEqual(data, []);
    const found = (await (await call(other, "GET", "/actions/sessions?q=mine")).json()) as {
      data: unknown[];
    };
    assert.deepEqual(found.data, []);
    assert.equal((await call(other, "PATCH", path, { title: "theirs" })).status, 404);
    assert.equal((await call(other, "DELETE", path)).status, 404);
    // The operator's own sessions are those of another owner, too.
    assert.equal((await call(await signIn(service), "DELETE", path)).status, 404);

    const own = await signInWith(TEST_KEY);
    const renamed = await call(own, "PATCH", path, { title: "  Renamed  " });
    assert.equal(((await renamed.json()) as { session: { title: string } }).session.title, "Renamed");
  });

  it("sees what waits in the sessions of the key's owner, with links that allow what the key allows", async () => {
    const { sessionId } = await startParked(service, [ask("Which colour?")]);
    const read = async (key: string, list: "inbox" | "sessions") => {
      const response = await call(await signInWith(key), "GET", `/actions/${list}`);
      return ((await response.json()) as { data: HomeItem[] }).data;
    };
    const { key: reading } = await createKey({ scopes: ["sessions:read"] });
    for (const key of [TEST_KEY, reading]) {
      const [item, ...others] = await read(key, "inbox");
      assert.deepEqual(others, []);
      assert.deepEqual(
        [item?.sessionId, item?.sessionTitle, item?.title],
        [sessionId, "hello", "Which colour?"],
      );
      const listed = (await read(key, "sessions")).find(({ id }) => id === sessionId);
      assert.equal(item?.shareUrl, listed?.shareUrl);
    }
    assert.deepEqual(await read(OTHER_KEY, "inbox"), []);
    await service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.deepEqual(await read(TEST_KEY, "inbox"), []);
  });

  it("is signed out when the key is revoked, and cannot sign in again", async () => {
    const { key, id } = await createKey();
    const cookie = await signInWith(key);
    assert.equal(await statusOf(cookie), 200);
    await call(await signIn(service), "DELETE", `/actions/keys/${id}`);
    assert.equal(await statusOf(cookie), 401);
    assert.equal((await service.container.mounted.loadLandingPage(cookie)).person, null);
    assert.equal((await post({ apiKey: key })).status, 401);
  });

  it("loses a scope with the key, and may log out with a key that may only read", async () => {
    const { key, id } = await createKey();
    const cookie = await signInWith(key);
    const narrow = { scopes: ["sessions:read"] };
    await call(await signIn(service), "PATCH", `/actions/keys/${id}`, narrow);
    assert.equal((await call(cookie, "POST", "/actions/sessions", {})).status, 403);
    const page = await service.container.mounted.loadLandingPage(cookie);
    assert.deepEqual(page.person, { kind: "key", ownerId: "owner", access: "read" });
    assert.match(page.sessions.data[0]?.shareUrl ?? "", /^\/s\//);
    assert.equal((await call(cookie, "POST", "/actions/logout")).status, 200);
    assert.equal(await statusOf(cookie), 401);
  });

  it("can still log out after the key lost the scope for reading", async () => {
    const { key, id } = await createKey();
    const cookie = await signInWith(key);
    await call(await signIn(service), "PATCH", `/actions/keys/${id}`, { scopes: ["sessions:write"] });
    assert.equal(await statusOf(cookie), 403);
    const page = await service.container.mounted.loadLandingPage(cookie);
    assert.deepEqual(page.person, { kind: "key", ownerId: "owner", access: "none" });
    assert.deepEqual(page.sessions.data, []);
    const response = await call(cookie, "POST", "/actions/logout");
    assert.equal(response.status, 200);
    assert.match(response.headers.getSetCookie()[0] ?? "", /^operator=; .*Max-Age=0$/);
    assert.equal(await statusOf(cookie), 401);
  });

  it("has at most 20 logins with the key, and the one that is unused for the longest time ends", async () => {
    const { key, id } = await createKey({ scopes: ["sessions:read"] });
    const other = await signInWith(TEST_KEY);
    const cookies: string[] = [];
    for (let count = 1; count <= 21; count++) cookies.push(await signInWith(key));
    const statuses = await Promise.all(cookies.map(statusOf));
    assert.deepEqual(statuses, [401, ...Array.from({ length: 20 }, () => 200)]);
    assert.equal(await statusOf(other), 200);
    // Also while many sign in at once.
    await Promise.all(Array.from({ length: 10 }, () => signInWith(key)));
    const rows = await service.container.services.db.select().from(logins).where(eq(logins.keyId, id));
    assert.equal(rows.length, 20);
  });

  it("is listed for the operator, who can end the login", async () => {
    const cookie = await signInWith((await createKey()).key);
    const operator = await signIn(service);
    const { data } = (await (await call(operator, "GET", "/actions/logins")).json()) as {
      data: { id: string; method: string; account: string | null }[];
    };
    const [login] = data.filter(({ method }) => method === "key");
    assert.equal(login?.account, "owner");
    for (const { id, method } of data)
      if (method === "key") await call(operator, "DELETE", `/actions/logins/${id}`);
    assert.equal(await statusOf(cookie), 401);
  });
});

describe("a sign-in with an API key", () => {
  it("has a rate for each key, apart from the other calls of the key", async (t) => {
    const limited = await openHttpTestService({ RATE_LIMIT_CREATE: "3" });
    t.after(() => limited.close());
    const enter = (apiKey: string) =>
      fetch(`${limited.baseUrl}/login`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: limited.env.baseUrl },
        body: JSON.stringify({ apiKey }),
      });
    const first = await enter(TEST_KEY);
    assert.deepEqual([first.status, first.headers.get("ratelimit-remaining")], [200, "2"]);
    assert.deepEqual([(await enter(TEST_KEY)).status, (await enter(TEST_KEY)).status], [200, 200]);
    const refused = await enter(TEST_KEY);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("set-cookie"), null);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.equal(((await refused.json()) as { code: string }).code, "rate_limited");
    assert.equal((await enter(OTHER_KEY)).status, 200);
    limited.model.respondWith(() => ({ text: "Done." }));
    await limited.create("not counted with the sign-ins");
    const failed = (await limited.readSecurityLog()).filter(({ event }) => event === "login.failed");
    assert.deepEqual(failed, [], "a valid key over its rate is no failed sign-in");
  });

  it("is refused without the scope for reading, for other sites, and for a body with two credentials", async () => {
    const { key } = await createKey({ scopes: ["sessions:write"] });
    assert.equal((await post({ apiKey: key })).status, 403);
    assert.equal((await post({ apiKey: TEST_KEY }, { origin: "https://evil.example" })).status, 403);
    for (const body of [{ apiKey: TEST_KEY, token: "x" }, {}, { apiKey: "" }, { apiKey: 7 }])
      assert.equal((await post(body)).status, 400, JSON.stringify(body));
  });

  it("with a wrong key counts as a failed authentication, and a valid key still works beyond the limit", async () => {
    const statuses: number[] = [];
    for (const apiKey of ["nonsense", "ask_a_b", "clé", "with\nline", "x".repeat(900)])
      statuses.push((await post({ apiKey })).status);
    assert.equal(statuses.at(-1), 429);
    assert.ok(statuses.every((status) => status === 401 || status === 429));
    assert.equal((await post({ apiKey: TEST_KEY })).status, 200);
    const events = await service.readSecurityLog();
    const text = JSON.stringify(events);
    assert.ok(!text.includes(TEST_KEY) && !text.includes("nonsense"), "the log has no keys");
  });
});
