import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allowCrossOrigin } from "./cross-origin.ts";
import { isOwnHost, isSameService } from "./same-origin.ts";

const BASE = "http://127.0.0.1:3000";
const allow = (rule: "any" | "first-party" | "none", origin: string | null, method = "POST") =>
  allowCrossOrigin(
    rule,
    new Request(`${BASE}/api`, { method, headers: origin === null ? {} : { origin } }),
    ["https://editor.example"],
    BASE,
    ["GET", "POST"],
  );

describe("calls from other origins", () => {
  test("are allowed from any origin under the rule `any`, but never with credentials", () => {
    for (const origin of ["https://a.example", "null"])
      assert.deepEqual(allow("any", origin), {
        kind: "allowed",
        headers: {
          Vary: "Origin",
          "Access-Control-Allow-Origin": origin,
          "Cross-Origin-Resource-Policy": "cross-origin",
        },
      });
    const preflight = allow("any", "https://a.example", "OPTIONS");
    assert.equal(preflight.kind, "answered");
    if (preflight.kind === "answered") {
      assert.equal(preflight.response.headers.get("access-control-allow-headers"), "content-type");
      assert.equal(preflight.response.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("are allowed from listed first parties, this service, and programs, which send no Origin", () => {
    for (const origin of ["https://editor.example", BASE, "http://localhost:3000", null])
      assert.equal(allow("first-party", origin).kind, "allowed", String(origin));
    for (const origin of [
      "https://a.example",
      "http://editor.example",
      "https://editor.example:444",
      "null",
      "",
    ])
      assert.equal(allow("first-party", origin).kind, "refused", origin);
    assert.equal(allow("first-party", "https://a.example", "OPTIONS").kind, "refused");
  });

  test("get no cross-origin headers under the rule `none`", () => {
    assert.deepEqual(allow("none", "https://a.example"), { kind: "allowed", headers: {} });
  });
});

describe("the origins of this service", () => {
  test("are its public origin and, on loopback, the other loopback names with that port", () => {
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

  test("determine the accepted Host headers", () => {
    assert.ok(isOwnHost("127.0.0.1:3000", BASE));
    for (const host of ["rebound.example:3000", "127.0.0.1", "127.0.0.1:3000@evil.example", undefined, ""])
      assert.ok(!isOwnHost(host, BASE), host);
  });
});
