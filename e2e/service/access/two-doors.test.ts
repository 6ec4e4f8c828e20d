import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { registerHooks } from "node:module";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { contract } from "#lib/api/contract/contract.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { createRequestListener } from "#lib/server/request-listener.ts";
import { openTestService, TEST_KEY, type TestService } from "../testing.ts";

// The API is served in two ways: by the project's own server, or by Next's routes in deployments without that server.

// Adds the file extension to an import of a Next module, because Node needs the extension and the bundler does not.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "next/navigation" ? "next/navigation.js" : specifier, context),
});

const match = createPathMatcher(contract);
const CONTAINER = Symbol.for("agent-session-service");
/** Headers that may differ between the answers of the project's server and of Next's routes. */
const NOT_COMPARED = new Set(["date", "connection", "keep-alive", "content-length", "transfer-encoding"]);

let service: TestService;
let directUrl: string;
const server = createServer((request, response) => listen(request, response));
let listen: ReturnType<typeof createRequestListener>["handleRequest"];

before(async () => {
  service = await openTestService();
  const { container } = service;
  Object.assign(globalThis, { [CONTAINER]: container.mounted });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  directUrl = `http://127.0.0.1:${port}`;
  const env = { ...service.env, baseUrl: directUrl };
  const handle = () => Promise.reject(new Error("passed on to Next"));
  ({ handleRequest: listen } = createRequestListener({
    container,
    env,
    handle,
    isDev: false,
    logger: { error: () => {} },
  }));
});
after(async () => {
  server.closeAllConnections();
  server.close();
  Object.assign(globalThis, { [CONTAINER]: undefined });
  await service.close();
});

type Route = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>;

type Call = { method?: string; path: string; headers?: Record<string, string>; body?: string };

/** Creates a new request for each use, because a request can be sent only once. */
const makeRequest = ({ method = "GET", path, headers = {}, body }: Call) =>
  new Request(directUrl + path, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
    ...(body !== undefined && { body }),
  });

/** Calls the handler in the route file of a path, in the way Next does. */
async function callRoute(call: Call): Promise<Response> {
  const found = match(new URL(call.path, directUrl).pathname);
  const name = Object.values(found?.operations ?? {})[0];
  assert.ok(name && found, call.path);
  const file = `../../../app${contract[name].path.replace(":filePath", "[...filePath]").replace(/:(\w+)/g, "[$1]")}/route.ts`;
  const route = (await import(file)) as Record<string, Route | undefined>;
  const handle = route[call.method ?? "GET"];
  assert.ok(handle, `${file} has no ${call.method}`);
  return handle(makeRequest(call), { params: Promise.resolve(found.params) });
}

async function describeAnswer(response: Response) {
  const headers = [...response.headers].filter(([name]) => !NOT_COMPARED.has(name)).sort();
  return { status: response.status, headers, body: await response.text() };
}

test("the server and Next's routes give the same answers, byte for byte and header for header", async () => {
  const created = await service.create("Say something.", { idempotencyKey: "first" });
  await service.completed(created.statusUrl);
  const { sessionId, statusUrl, streamUrl } = created;
  const json = { "content-type": "application/json" };
  const at = `/api/sessions/${sessionId}`;
  const foreign = { origin: "https://elsewhere.example" };
  const body = JSON.stringify({
    messages: [{ role: "user", parts: [{ type: "text", text: "Say something." }] }],
    idempotencyKey: "first",
  });
  const rows: Call[] = [
    "/api/health",
    "/api/ready",
    "/api/openapi.json",
    "/api/sessions",
    "/api/sessions?limit=1&cursor=x",
    statusUrl,
    streamUrl,
    `${at}/agent/status`,
    `${at}/browser`,
    `${at}/messages`,
    `${at}/annotations?limit=0`,
    `${at}/queue`,
    `${at}/deliveries`,
    `${at}/artifacts/art_x`,
    `${at}/requests/req_x`,
    "/api/sessions/ses_x/agent/status",
    "/api/sessions/a%2Fb/agent/status",
    `${streamUrl}?after=9999`,
    `${streamUrl}?after=x`,
  ].map((path) => ({ path }));
  rows.push(
    { path: statusUrl, headers: { authorization: "Bearer wrong" } },
    { path: statusUrl, headers: { authorization: "", "x-service-api-key": TEST_KEY } },
    { path: streamUrl, headers: { "last-event-id": "1" } },
    { path: `${at}/browser`, headers: foreign },
    { path: `${at}/annotations/webhook` },
    { path: `${at}/messages`, headers: { authorization: "", cookie: "share=wrong" } },
    ...["/api/health", statusUrl, streamUrl].map((path) => ({ path, method: "HEAD" })),
    ...["/api/health", `${at}/browser`].map((path) => ({ path, method: "OPTIONS" })),
    { path: `${at}/annotations/webhook`, method: "OPTIONS", headers: foreign },
    ...["PUT", "PATCH", "DELETE"].map((method) => ({ path: `${at}/annotations/webhook`, method })),
    { path: "/api/session", method: "DELETE" },
    { path: "/api/session", method: "POST", headers: json, body },
    { path: "/api/session", method: "POST", headers: json, body: "{}" },
    { path: "/api/session", method: "POST", headers: json, body: "{" },
    { path: "/api/session", method: "POST", headers: { "content-type": "text/plain" }, body },
    { path: "/api/session", method: "POST", headers: json },
    { path: `${at}/browser`, method: "POST", headers: json, body: "x".repeat(70_000) },
    { path: `${at}/browser`, method: "POST" },
    { path: `${at}/annotations/webhook`, method: "POST", headers: foreign, body: "{" },
    { path: `${at}/queue/req_x`, method: "PATCH", headers: json, body: '{"text":"x"}' },
    { path: `${at}/queue/req_x`, method: "DELETE" },
  );
  for (const call of rows) {
    const direct = await describeAnswer(await fetch(makeRequest(call)));
    const throughRoute = await describeAnswer(await callRoute(call));
    if (call.method === "HEAD") throughRoute.body = "";
    assert.deepEqual(direct, throughRoute, `${call.method ?? "GET"} ${call.path}`);
  }
});
