import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allowCrossOrigin } from "./cross-origin.ts";
import { isOwnHost, isSameService } from "./same-origin.ts";

const BASE = "http://127.0.0.1:3000";
const ask = (rule: "any" | "first-party" | "none", origin: string | null, method = "POST") =>
  allowCrossOrigin(
    rule,
    new Request(`${BASE}/api`, { method, headers: origin === null ? {} : { origin } }),
    ["https://editor.example"],
    BASE,
    ["GET", "POST"],
  );

describe("calls from other origins", () => {
  test("any origin is reflected where the rule says so, never with credentials", () => {
    for (const origin of ["https://a.example", "null"])
      assert.deepEqual(ask("any", origin), {
        kind: "allowed",
        headers: {
          Vary: "Origin",
          "Access-Control-Allow-Origin": origin,
          "Cross-Origin-Resource-Policy": "cross-origin",
        },
      });
    const preflight = ask("any", "https://a.example", "OPTIONS");
    assert.equal(preflight.kind, "answered");
    if (preflight.kind === "answered") {
      assert.equal(preflight.response.headers.get("access-control-allow-headers"), "content-type");
      assert.equal(preflight.response.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("first parties are those of the list and this service; a call without Origin comes from no page", () => {
    for (const origin of ["https://editor.example", BASE, "http://localhost:3000", null])
      assert.equal(ask("first-party", origin).kind, "allowed", String(origin));
    for (const origin of [
      "https://a.example",
      "http://editor.example",
      "https://editor.example:444",
      "null",
      "",
    ])
      assert.equal(ask("first-party", origin).kind, "refused", origin);
    assert.equal(ask("first-party", "https://a.example", "OPTIONS").kind, "refused");
  });

  test("everything else has no such headers", () => {
    assert.deepEqual(ask("none", "https://a.example"), { kind: "allowed", headers: {} });
  });
});

describe("this service's own names", () => {
  test("are its public origin, and on loopback the other names of the machine on that port", () => {
    for (const origin of [BASE, "http://localhost:3000", "http://[::1]:3000"])
      assert.ok(isSameService(origin, BASE), origin);
    for (const origin of [
      "http://localhost:3001",
      "https://localhost:3000",
      "http://localhost.evil.example:3000",
      "null",
      "",
    ])
      assert.ok(!isSameService(origin, BASE), origin);
    assert.ok(!isSameService("http://localhost", "https://service.example"));
  });

  test("a Host header is checked like an origin", () => {
    assert.ok(isOwnHost("127.0.0.1:3000", BASE));
    for (const host of ["rebound.example:3000", "127.0.0.1", "127.0.0.1:3000@evil.example", undefined, ""])
      assert.ok(!isOwnHost(host, BASE), host);
  });
});
