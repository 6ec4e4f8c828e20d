import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import {
  API_KEY,
  type CreatedSession,
  OTHER_KEY,
  type RunningService,
  startService,
} from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;
let created: CreatedSession;

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
  created = await service.create("Hello");
  await service.completed(created.statusUrl);
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

/** Lists calls of operations that require an API key. The calls are about this session and request. */
const operations = (sessionId: string, requestId: string): [string, string, unknown?][] => {
  const session = `/api/sessions/${sessionId}`;
  return [
    ["GET", `${session}/requests/${requestId}`],
    ["GET", `${session}/requests/${requestId}/stream`],
    ["GET", `${session}/agent/status`],
    ["POST", `${session}/agent/messages`, { text: "More" }],
    ["POST", `${session}/agent/cancel`],
    ["GET", `${session}/browser`],
    ["POST", `${session}/browser`, { url: "https://a.example/" }],
    ["GET", `${session}/messages`],
    ["GET", `${session}/annotations`],
    ["GET", `${session}/deliveries`],
    ["GET", `${session}/artifacts/evi_aaaaaaaaaaaaaaaaaaaaaaaa`],
  ];
};
const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  fetch(service.baseUrl + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test.describe("an API key", () => {
  test("is accepted in Authorization: Bearer, with the scheme in any case, or in X-Service-Api-Key", async () => {
    for (const headers of [
      { authorization: `Bearer ${API_KEY}` },
      { authorization: `bearer  ${API_KEY}` },
      { "x-service-api-key": API_KEY },
      { authorization: "Basic dXNlcjpwYXNz", "x-service-api-key": API_KEY },
    ])
      expect(
        (await send("GET", created.statusUrl, undefined, headers as Record<string, string>)).status,
      ).toBe(200);
  });

  test("is read from Authorization if both headers are sent", async () => {
    const wrong = { authorization: "Bearer wrong", "x-service-api-key": API_KEY };
    await expectRefusal(await send("GET", created.statusUrl, undefined, wrong), 401, "unauthorized");
    const right = { authorization: `Bearer ${API_KEY}`, "x-service-api-key": "wrong" };
    expect((await send("GET", created.statusUrl, undefined, right)).status).toBe(200);
  });

  test("is required at every endpoint: without a valid one the answer is 401 and names the accepted headers", async () => {
    const names = /Authorization: Bearer <API_KEY>.*X-Service-Api-Key: <API_KEY>/;
    for (const headers of [
      {},
      { authorization: "Bearer" },
      { authorization: "Bearer nonsense" },
      { authorization: API_KEY },
      { authorization: `Basic ${API_KEY}` },
      { "x-service-api-key": "" },
      { "x-service-api-key": `${API_KEY}x` },
      { "x-service-api-key": "ask_abc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
      { authorization: `Bearer ${"k".repeat(5_000)}` },
    ] as Record<string, string>[])
      await expectRefusal(
        await send("GET", created.statusUrl, undefined, headers),
        401,
        "unauthorized",
        names,
      );
    const all: [string, string, unknown?][] = [
      ["POST", "/api/session", { messages: [] }],
      ["GET", "/api/sessions"],
      ...operations(created.sessionId, created.requestId),
    ];
    for (const [method, path, body] of all)
      await test.step(`${method} ${path}`, async () => {
        await expectRefusal(await send(method, path, body, {}), 401, "unauthorized", names);
      });
  });

  test("gets the same 404 for another owner's session as for one that does not exist", async () => {
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    const unknownOperations = operations("ses_aaaaaaaaaaaaaaaaaaaaaaaa", "req_aaaaaaaaaaaaaaaaaaaaaaaa");
    for (const [index, [method, path, body]] of operations(created.sessionId, created.requestId).entries())
      await test.step(`${method} ${path}`, async () => {
        const [, unknownPath = ""] = unknownOperations[index] ?? [];
        const [theirs, unknown] = [
          await send(method, path, body, other),
          await send(method, unknownPath, body, other),
        ];
        expect(theirs.status).toBe(404);
        expect(await theirs.clone().text()).toBe(await unknown.text());
        await expectRefusal(theirs, 404, "not_found", "no such session");
      });
    const { data } = await (await send("GET", "/api/sessions", undefined, other)).json();
    expect(data).toEqual([]);
  });

  test("reads its owner's session at each of these endpoints", async () => {
    const mine = { authorization: `Bearer ${API_KEY}` };
    for (const [method, path, body] of operations(created.sessionId, created.requestId)) {
      if (method === "POST" || path.includes("/artifacts/")) continue;
      expect((await send(method, path, body, mine)).status, path).toBe(200);
    }
  });
});

test.describe("an id or path", () => {
  test("that names nothing is 404, also if it is malformed", async () => {
    for (const id of ["%00", "..%2f..%2fetc", "req_", "%F0%9F%98%80", "a".repeat(300), "'%20or%201=1--"]) {
      const session = `/api/sessions/${created.sessionId}`;
      await expectRefusal(
        await service.call("GET", `${session}/requests/${id}`),
        404,
        "not_found",
        "no such request",
      );
      await expectRefusal(
        await service.call("GET", `${session}/requests/${id}/stream`),
        404,
        "not_found",
        "no such request",
      );
      await expectRefusal(
        await service.call("GET", `${session}/artifacts/${id}`),
        404,
        "not_found",
        "no such artifact",
      );
      await expectRefusal(
        await service.call("GET", `/api/sessions/${id}/agent/status`),
        404,
        "not_found",
        "no such session",
      );
    }
  });

  test("of a request of another session is 404", async () => {
    const { requestId } = await service.create("Another");
    const path = `/api/sessions/${created.sessionId}/requests/${requestId}`;
    await expectRefusal(await service.call("GET", path), 404, "not_found", "no such request");
  });

  test("that cannot be decoded is 400", async () => {
    await expectRefusal(
      await service.call("GET", "/api/sessions/%E0%A4/agent/status"),
      400,
      "invalid_request",
    );
  });
});

test.describe("methods", () => {
  const cases: [string, string, string][] = [
    ["GET", "/api/session", "POST, OPTIONS"],
    ["DELETE", "/api/sessions", "GET, HEAD, OPTIONS"],
    ["POST", "/api/sessions/ses_a/requests/req_a", "GET, HEAD, OPTIONS"],
    ["PUT", "/api/sessions/ses_a/requests/req_a/stream", "GET, HEAD, OPTIONS"],
    ["PATCH", "/api/sessions/ses_a/agent/status", "GET, HEAD, OPTIONS"],
    ["GET", "/api/sessions/ses_a/agent/messages", "POST, OPTIONS"],
    ["GET", "/api/sessions/ses_a/agent/cancel", "POST, OPTIONS"],
    ["DELETE", "/api/sessions/ses_a/browser", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/api/health", "GET, HEAD, OPTIONS"],
    ["PUT", "/api/sessions/ses_a/live", "GET, HEAD, OPTIONS"],
  ];
  test("without an operation are answered with 405 and Allow, and OPTIONS answers the same Allow", async () => {
    for (const [method, path, allow] of cases)
      await test.step(`${method} ${path}`, async () => {
        const refused = await service.call(method, path);
        expect(refused.headers.get("allow")).toBe(allow);
        await expectRefusal(refused, 405, "method_not_allowed");
        if (path.endsWith("/browser")) return;
        const options = await service.call("OPTIONS", path);
        expect([options.status, options.headers.get("allow")]).toEqual([204, allow]);
      });
  });

  test("HEAD answers like GET, without a body", async () => {
    const response = await service.call("HEAD", created.statusUrl);
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

test.describe("health", () => {
  test("GET /api/health needs no key", async () => {
    const response = await fetch(`${service.baseUrl}/api/health`);
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
  });

  test("GET /api/ready reports the state of every part", async () => {
    const response = await fetch(`${service.baseUrl}/api/ready`);
    const body = await response.json();
    expect(response.status).toBe(body.ok ? 200 : 503);
    expect(Object.keys(body.checks).sort()).toEqual(["browser", "database", "engine", "model", "sandbox"]);
    for (const check of Object.values(body.checks))
      expect(check).toEqual({ ok: expect.any(Boolean), detail: expect.any(String) });
  });
});

test.describe("answers of the API", () => {
  test("have no CORS header for other origins, and forbid sniffing and storing", async () => {
    const response = await service.call("GET", created.statusUrl, undefined, { origin: "https://a.example" });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("are 421 for a Host that is not this service's", async () => {
    const { request } = await import("node:http");
    const status = await new Promise((done, fail) => {
      const call = request(
        `${service.baseUrl}/api/health`,
        { headers: { host: "rebound.example" } },
        (response) => done(response.resume().statusCode),
      );
      call.on("error", fail).end();
    });
    expect(status).toBe(421);
  });
});
