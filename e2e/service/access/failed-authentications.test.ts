import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { listToolsRequest } from "../mcp-server/list-tools-request.ts";
import { say, TEST_KEY } from "../testing.ts";

const LIMIT = 3;
let service: HttpTestService;
let sessionId: string;
let shareUrl: string;

before(async () => {
  service = await openHttpTestService({
    RATE_LIMIT_FAILED_AUTH: String(LIMIT),
    TRUST_PROXY: "127.0.0.1",
  });
  service.model.enqueue(say("Hello."));
  ({ sessionId, shareUrl } = await service.create("Hello"));
});
after(() => service.close());

let clients = 0;
/** Returns the address header of a client that has not sent a request before. */
const newClient = () => ({ "x-forwarded-for": `203.0.113.${++clients}` });

type Send = (client: Record<string, string>) => Promise<{ status: number; retryAfter: string | null }>;

const send =
  (path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Send =>
  async (client) => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      redirect: "manual",
      ...init,
      headers: { ...headers, ...client },
    });
    const text = await response.text();
    if (response.status === 429) assert.match(text, /too many failed authentications from this address/);
    return { status: response.status, retryAfter: response.headers.get("retry-after") };
  };

/** Opens a WebSocket. @returns the HTTP status of the refusal, or the code with which the service closes the socket. */
const openSocket =
  (token: string | undefined, headers: Record<string, string> = {}): Send =>
  async (client) => {
    const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
    const socket = new WebSocket(url, { headers: { ...headers, ...client } });
    const refused = once(socket, "unexpected-response").then(([, response]) => ({
      status: response.statusCode as number,
      retryAfter: (response.headers["retry-after"] as string | undefined) ?? null,
    }));
    refused.catch(() => {});
    socket.on("error", () => {});
    socket.on("open", () => token && socket.send(JSON.stringify({ type: "auth", token })));
    socket.on("message", () => socket.close(1000));
    const closed = once(socket, "close").then(([code]) => ({ status: code as number, retryAfter: null }));
    return Promise.race([refused, closed]);
  };

const logIn = (token: string) =>
  send(
    "/login",
    { origin: service.baseUrl, "content-type": "application/json" },
    { method: "POST", body: JSON.stringify({ token }) },
  );

function mcp(token: string) {
  const { headers, ...init } = listToolsRequest(token);
  return send("/api/mcp", headers, init);
}

async function readMcpToken(): Promise<string> {
  const response = await service.call("POST", `/api/sessions/${sessionId}/mcp-token`);
  return ((await response.json()) as { token: string }).token;
}

type Credential = {
  name: string;
  wrong: () => Send;
  /** The status of the response to a wrong credential, while the client is below the limit. */
  refusal: number;
  /** The status of the response to a client beyond the limit. Default: 429. */
  limited?: number;
  right: () => Send | Promise<Send>;
  accepted: number;
};

const CREDENTIALS: Credential[] = [
  {
    name: "API keys",
    wrong: () => send("/api/sessions", { authorization: "Bearer wrong" }),
    refusal: 401,
    right: () => send("/api/sessions", { authorization: `Bearer ${TEST_KEY}` }),
    accepted: 200,
  },
  {
    name: "tokens of share links",
    wrong: () => send(`/s/${sessionId}?key=wrong`),
    refusal: 303,
    right: () => send(shareUrl),
    accepted: 303,
  },
  {
    name: "share cookies",
    wrong: () => send(`/api/sessions/${sessionId}/variants`, { cookie: "share=wrong" }),
    refusal: 404,
    right: () => {
      const token = new URL(shareUrl, service.baseUrl).searchParams.get("key");
      return send(`/api/sessions/${sessionId}/variants`, { cookie: `share=${token}` });
    },
    accepted: 200,
  },
  {
    name: "login tokens",
    wrong: () => logIn("wrong"),
    refusal: 401,
    right: () => logIn(service.container.services.login.issueToken()),
    accepted: 200,
  },
  {
    name: "keys of a socket's request",
    wrong: () => openSocket(undefined, { authorization: "Bearer wrong" }),
    refusal: 401,
    right: () => openSocket(undefined, { authorization: `Bearer ${TEST_KEY}` }),
    accepted: 1000,
  },
  {
    name: "auth frames of a socket",
    wrong: () => openSocket("wrong"),
    refusal: 4001,
    limited: 1013,
    right: () => openSocket(TEST_KEY),
    accepted: 1000,
  },
  {
    name: "user tokens of the built-in MCP server",
    wrong: () => mcp("wrong"),
    refusal: 401,
    right: async () => mcp(await readMcpToken()),
    accepted: 200,
  },
];

describe("the limit of failed authentications per address", () => {
  for (const { name, wrong, refusal, limited = 429, right, accepted } of CREDENTIALS)
    test(`refuses wrong ${name} beyond the limit, but no valid credential and no other address`, async () => {
      const client = newClient();
      for (let times = 0; times < LIMIT; times++) assert.equal((await wrong()(client)).status, refusal);
      const beyond = await wrong()(client);
      assert.equal(beyond.status, limited);
      if (limited === 429) {
        const seconds = Number(beyond.retryAfter);
        assert.ok(seconds > 0 && seconds <= 60, `Retry-After: ${beyond.retryAfter}`);
      }
      const valid = await right();
      assert.equal((await valid(client)).status, accepted);
      assert.equal((await wrong()(newClient())).status, refusal, "another address is not limited");
    });

  test("does not count requests without a credential", async () => {
    const client = newClient();
    for (let times = 0; times <= LIMIT; times++) {
      assert.equal((await send("/api/sessions")(client)).status, 401);
      assert.equal((await send(`/api/sessions/${sessionId}/variants`)(client)).status, 401);
    }
  });

  test("counts wrong API keys at /api/ready, which still answers", async () => {
    const client = newClient();
    const wrong = { authorization: "Bearer wrong" };
    const { status } = await send("/api/ready")(client);
    for (let times = 0; times <= LIMIT; times++)
      assert.equal((await send("/api/ready", wrong)(client)).status, status);
    assert.equal((await send("/api/sessions", wrong)(client)).status, 429);
  });

  test("is answered as the contract describes", async () => {
    const client = newClient();
    const ask = () =>
      service.fetch(`${service.baseUrl}/api/sessions`, {
        headers: { ...client, authorization: "Bearer wrong" },
      });
    for (let times = 0; times < LIMIT; times++) await ask();
    const response = await ask();
    const { success, code } = (await response.json()) as { success: boolean; code: string };
    assert.deepEqual([response.status, success, code], [429, false, "rate_limited"]);
    const lines = await service.readSecurityLog();
    const throttled = lines.find(
      ({ event, address }) => event === "authentication.throttled" && address === client["x-forwarded-for"],
    );
    assert.equal(throttled?.outcome, "refused");
  });
});
