import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFailedAttempts } from "../auth/failed-attempts.ts";
import { fail } from "../http/errors.ts";
import { markLocalCaller } from "../http/local-caller.ts";
import type { CallOf } from "./handler.ts";
import { readReadiness } from "./service-handlers.ts";
import type { ApiServices } from "./services.ts";

const up = { ok: true, detail: "fine" };
const facts = { scripts: "bubblewrap", missingTools: [] };
const hosts = [{ home: "local" as const, sessions: 1, places: 8 }];
const deployment = { ...facts, listHosts: async () => hosts };
const checks = { database: up, engine: up, browser: up, sandbox: up, model: up };

/** Calls the readiness check for a state of the database. Only the key `right` is valid. @returns status and body. */
async function request(headers: Record<string, string>, { isLocal = false, database = up } = {}) {
  const httpRequest = new Request("http://service.example/api/ready", { headers });
  if (isLocal) markLocalCaller(httpRequest);
  const services: Pick<ApiServices, "readiness" | "authenticate" | "failedAttempts" | "deployment"> = {
    deployment,
    failedAttempts: createFailedAttempts({ limit: 1, trustedProxies: [] }),
    readiness: async () => ({ ...checks, database }),
    authenticate: async (sent) =>
      sent.get("authorization") === "Bearer right"
        ? { ok: true, caller: { keyId: "key", ownerId: "owner", scopes: ["sessions:read"] } }
        : fail("unauthorized", "send a valid API key"),
  };
  // The casts hold because the handler uses no other service and no other part of the call.
  const answer = await readReadiness(
    services as ApiServices,
    { request: httpRequest } as CallOf<"readReadiness">,
  );
  assert.ok(!(answer instanceof Response) && answer.ok);
  return [answer.status, answer.body];
}

describe("GET /api/ready", () => {
  const down = { ok: false, detail: "connection refused to db.internal" };

  test("shows callers without a key only whether the service is ready", async () => {
    assert.deepEqual(await request({}), [200, { ok: true }]);
    assert.deepEqual(await request({}, { database: down }), [503, { ok: false }]);
  });

  test("shows callers with an API key the state of each part", async () => {
    const body = { ok: false, checks: { ...checks, database: down }, ...facts, browserHosts: null };
    assert.deepEqual(await request({ authorization: "Bearer right" }, { database: down }), [503, body]);
  });

  test("treats a wrong key like no key, so that a probe with an expired key still works", async () => {
    assert.deepEqual(await request({ authorization: "Bearer wrong" }), [200, { ok: true }]);
  });

  test("shows callers on the same machine the state of each part", async () => {
    assert.deepEqual(await request({}, { isLocal: true }), [
      200,
      { ok: true, checks, ...facts, browserHosts: hosts },
    ]);
  });
});
