import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { z } from "zod";
import { shareTokens } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { silentSecurityLog } from "#lib/security-log/testing.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import { createShareLinks, hashToken } from "#lib/session/share/share-link.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createFailedAttempts } from "../auth/failed-attempts.ts";
import type { Operation, OperationAuth } from "../contract/operation.ts";
import type { Call, Handler } from "../handlers/handler.ts";
import { createBodyReader } from "../http/body/body-reader.ts";
import { fail } from "../http/errors.ts";
import { createRateLimiter } from "../http/rates/rate-limiter.ts";
import { type RouteServices, serveOperation } from "./serve-operation.ts";

const BASE = "http://127.0.0.1:3000";
const { db, close } = await openTestDatabase();
after(close);
await insertTestSession(db, "ses_a");
for (const role of ["view", "comment", "drive"] as const)
  await db.insert(shareTokens).values({ id: role, tokenHash: hashToken(role), sessionId: "ses_a", role });

const logged: object[] = [];
const noop = () => {};
const services: RouteServices = {
  db,
  failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
  authenticate: createAuthenticator(
    [
      { key: "k", ownerId: "owner" },
      { key: "k2", ownerId: "owner" },
      { key: "o", ownerId: "other" },
    ],
    {
      findHolder: async () => undefined,
      readLive: async () => new Map(),
    },
  ),
  shares: createShareLinks(db, new Uint8Array(32)),
  login: { readLogin: async () => undefined },
  bodies: createBodyReader(),
  rates: createRateLimiter({ create: 2, poll: 0, annotate: 0, act: 2 }),
  logger: { debug: noop, info: noop, warn: noop, error: (fields) => void logged.push(fields) },
  securityLog: silentSecurityLog,
  settings: { baseUrl: BASE },
};

const operation = (fields: Partial<Operation> = {}): Operation => ({
  method: "POST",
  path: "/api/sessions/:sessionId",
  summary: "Test",
  auth: { kind: "key" },
  answers: { 200: z.object({ seen: z.string() }) },
  ...fields,
});
const seen: Handler<Operation, RouteServices> = async (_services, call) => ({
  ok: true,
  status: 200,
  body: { seen: call.session?.id ?? call.caller?.ownerId ?? "nobody", secret: "leak" },
});
async function serve(
  tested: Operation,
  headers: Record<string, string>,
  options: {
    handler?: Handler<Operation, RouteServices>;
    body?: string;
    params?: Record<string, string>;
    query?: string;
  } = {},
) {
  const { body, params = { sessionId: "ses_a" }, query = "" } = options;
  const request = new Request(`${BASE}/x${query}`, {
    method: tested.method,
    headers,
    ...(body !== undefined && { body }),
  });
  const response = await serveOperation(services, tested, options.handler ?? seen, request, params);
  const text = await response.text();
  return { status: response.status, body: text === "" ? "" : JSON.parse(text), headers: response.headers };
}
const status = async (...args: Parameters<typeof serve>) => (await serve(...args)).status;
const key = { authorization: "Bearer k" };
const origin = { origin: BASE };
const share = (role: string) => ({ cookie: `share=${role}`, ...origin });

describe("access to an operation", () => {
  test("by key is limited to the owner's sessions; another owner's session is answered like an unknown one", async () => {
    assert.deepEqual((await serve(operation(), key)).body, { seen: "ses_a" });
    const other = await serve(operation(), { authorization: "Bearer o" });
    const none = await serve(operation(), key, { params: { sessionId: "ses_none" } });
    assert.deepEqual([other.status, other.body], [none.status, none.body]);
    assert.equal(other.status, 404);
    assert.equal(await status(operation(), share("drive")), 401);
  });

  const driver = operation({ auth: { kind: "share", role: "drive", orKey: false } });
  test("by share link is limited to the role of the link", async () => {
    assert.equal(await status(driver, share("drive")), 200);
    for (const role of ["view", "comment"]) {
      const refused = await serve(driver, share(role));
      assert.equal(refused.status, 403);
      assert.deepEqual(refused.body, {
        success: false,
        code: "forbidden",
        error: `this share link may ${role}, not drive`,
      });
    }
    const commenter = operation({ auth: { kind: "share", role: "comment", orKey: false } });
    assert.deepEqual(
      await Promise.all(["view", "comment", "drive", "wrong"].map((role) => status(commenter, share(role)))),
      [403, 200, 200, 404],
    );
  });

  test("by a page needs the service's Origin and the cookie; an API key is refused", async () => {
    const { origin: _, ...cookieAlone } = share("drive");
    assert.equal(await status(driver, cookieAlone), 403);
    for (const from of ["https://a.example", "null", "http://127.0.0.1:3001"])
      assert.equal(await status(driver, { ...cookieAlone, origin: from }), 403);
    assert.equal(await status(driver, { ...key, ...origin }), 404);
  });

  test("to data of a page needs the cookie or a key", async () => {
    const auth: OperationAuth = { kind: "share", role: "view", orKey: true };
    const reader = operation({ auth, method: "GET" });
    assert.equal(await status(reader, { cookie: "share=view" }), 200);
    assert.equal(await status(reader, key), 200);
    assert.equal(await status(reader, {}), 401);
    assert.equal(await status(reader, { cookie: "share=wrong" }), 404);
    assert.equal(await status(reader, { cookie: "share=view", "sec-fetch-site": "cross-site" }), 403);
    // If a request has a key, only the key counts, even if it is wrong and a valid cookie is sent too.
    assert.equal(await status(reader, { cookie: "share=view", authorization: "Bearer wrong" }), 401);
  });
});

describe("the order of checks", () => {
  const strict = operation({
    body: z.strictObject({ name: z.string() }),
    bodyBytesMax: 100,
    requiresJsonType: true,
    query: z.object({ page: z.string().regex(/^\d+$/, { error: "must be a whole number" }).optional() }),
  });
  const json = { ...key, "content-type": "application/json" };

  test("the key comes before the session, the session before the body, the body before the query", async () => {
    assert.equal(await status(strict, {}, { body: "{" }), 401);
    assert.equal(await status(strict, json, { body: "{", params: { sessionId: "ses_none" } }), 404);
    assert.equal(await status(strict, key, { body: "{" }), 415);
    assert.equal(await status(strict, json, { body: "x".repeat(101) }), 413);
    assert.equal(
      (await serve(strict, json, { body: "{", query: "?page=x" })).body.error,
      "body: must be valid JSON",
    );
    assert.equal(
      (await serve(strict, json, { body: "{}", query: "?page=x" })).body.error,
      "name: is required",
    );
    const query = await serve(strict, json, { body: '{"name":"a"}', query: "?page=x" });
    assert.deepEqual([query.status, query.body.error], [400, "page: must be a whole number"]);
  });

  test("a body that may be left out counts as an empty object, and a body that is sent is checked", async () => {
    const optional = operation({
      body: z.strictObject({ name: z.string().default("none") }),
      bodyBytesMax: 100,
      requiresJsonType: true,
      isBodyOptional: true,
    });
    assert.equal(await status(optional, key), 200);
    assert.equal(await status(optional, json, { body: '{"name":"a"}' }), 200);
    assert.equal(await status(optional, json, { body: '{"name":1}' }), 400);
    assert.equal(await status(optional, { ...key, "content-type": "text/plain" }, { body: "{}" }), 415);
    assert.equal(await status(optional, json), 400, "an empty body of the type JSON is no JSON");
  });

  test("a malformed id is not found, and not looked up", async () => {
    for (const requestId of ["\0", "a b", "../x", "é", "x".repeat(101), ""]) {
      const answer = await serve(operation(), key, { params: { sessionId: "ses_a", requestId } });
      assert.deepEqual([answer.status, answer.body.error], [404, "no such request"]);
    }
    const sharing = operation({ auth: { kind: "share", role: "view", orKey: false } });
    assert.equal(await status(sharing, share("view"), { params: { sessionId: "\0" } }), 404);
  });

  test("a handler gets the validated body, and the hash of the body as sent", async () => {
    let received: Call | undefined;
    const handler: Handler<Operation, RouteServices> = async (all, call) => {
      received = call;
      return seen(all, call);
    };
    const loose = operation({ body: z.object({ a: z.number().transform(String) }) });
    await serve(loose, key, { body: '{"a":1,"b":2}', handler });
    assert.deepEqual([received?.body, received?.hashBody()], [{ a: "1" }, hashBody({ b: 2, a: 1 })]);
  });
});

describe("answers", () => {
  test("contain only fields of the contract", async () => {
    assert.deepEqual((await serve(operation(), key)).body, { seen: "ses_a" });
  });

  test("to an unexpected error are 500 without a detail, which is in the log", async () => {
    const handler = () => Promise.reject(new Error("connection to 10.0.0.1 lost"));
    const answer = await serve(operation(), key, { handler });
    assert.equal(answer.status, 500);
    assert.equal(answer.body.code, "internal");
    assert.doesNotMatch(answer.body.error, /10\.0\.0\.1/);
    assert.match(String((logged.at(-1) as { err?: Error }).err), /connection to 10\.0\.0\.1 lost/);
  });

  test("that the contract does not have become 500", async () => {
    const handler: Handler<Operation, RouteServices> = async () => ({ ok: true, status: 202, body: {} });
    assert.equal(await status(operation(), key, { handler }), 500);
    const wrong: Handler<Operation, RouteServices> = async () => ({
      ok: true,
      status: 200,
      body: { seen: 5 },
    });
    assert.equal(await status(operation(), key, { handler: wrong }), 500);
  });

  test("to refused calls are bare only where the specification defines them so", async () => {
    const bare = operation({ body: z.unknown(), bodyBytesMax: 10, bare: { 400: "url is required" } });
    assert.deepEqual((await serve(bare, key, { body: "{" })).body, { error: "url is required" });
    assert.equal((await serve(bare, key, { body: "x".repeat(11) })).body.code, "payload_too_large");
    assert.equal((await serve(bare, {}, { body: "{" })).body.code, "unauthorized");
  });

  test("have the state of the caller's rate limit; malformed requests do not count", async () => {
    const limited = operation({ rate: "create", body: z.object({}) });
    for (let round = 0; round < 10; round++) assert.equal(await status(limited, key, { body: "{" }), 400);
    const conflict: Handler<Operation, RouteServices> = async () => fail("conflict", "not now");
    const first = await serve(limited, key, { body: "{}", handler: conflict });
    assert.deepEqual([first.status, first.headers.get("ratelimit-remaining")], [409, "1"]);
    assert.equal((await serve(limited, key, { body: "{}" })).headers.get("ratelimit-remaining"), "0");
    const refused = await serve(limited, key, { body: "{}" });
    assert.deepEqual([refused.status, refused.body.code], [429, "rate_limited"]);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    const second = await serve(limited, { authorization: "Bearer k2" }, { body: "{}" });
    assert.equal(
      second.headers.get("ratelimit-remaining"),
      "1",
      "another key of the same owner is counted separately",
    );
  });
});
