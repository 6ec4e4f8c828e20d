import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFailedAttempts } from "../auth/failed-attempts.ts";
import { fail } from "../http/errors.ts";
import { markLocalCaller } from "../http/local-caller.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";
import { readReadiness } from "./service.ts";

const up = { ok: true, detail: "fine" };
const checks = { database: up, engine: up, browser: up, sandbox: up, model: up };

/** The answer to a request, where `database` is so and `right` is the only key. */
async function ask(headers: Record<string, string>, { isLocal = false, database = up } = {}) {
  const request = new Request("http://service.example/api/ready", { headers });
  if (isLocal) markLocalCaller(request);
  const services: Pick<ApiServices, "readiness" | "authenticate" | "failedAttempts"> = {
    failedAttempts: createFailedAttempts({ limit: 1, trustedProxies: [] }),
    readiness: async () => ({ ...checks, database }),
    authenticate: async (sent) =>
      sent.get("authorization") === "Bearer right"
        ? { ok: true, caller: { keyId: "key", ownerId: "owner", scopes: ["sessions:read"] } }
        : fail("unauthorized", "send a valid API key"),
  };
  // The handler uses nothing else.
  const answer = await readReadiness(services as ApiServices, { request } as CallOf<"readReadiness">);
  assert.ok(!(answer instanceof Response) && answer.ok);
  return [answer.status, answer.body];
}

describe("GET /api/ready", () => {
  const down = { ok: false, detail: "connection refused to db.internal" };

  test("tells strangers whether the service is ready, and nothing else", async () => {
    assert.deepEqual(await ask({}), [200, { ok: true }]);
    assert.deepEqual(await ask({}, { database: down }), [503, { ok: false }]);
  });

  test("tells callers with an API key how each part is", async () => {
    const body = { ok: false, checks: { ...checks, database: down } };
    assert.deepEqual(await ask({ authorization: "Bearer right" }, { database: down }), [503, body]);
  });

  test("treats a wrong key as none, so that a probe goes on when its key has expired", async () => {
    assert.deepEqual(await ask({ authorization: "Bearer wrong" }), [200, { ok: true }]);
  });

  test("tells callers on the own machine how each part is", async () => {
    assert.deepEqual(await ask({}, { isLocal: true }), [200, { ok: true, checks }]);
  });
});
