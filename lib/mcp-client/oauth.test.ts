import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { startAuthorizationServer } from "#e2e/fixtures/mcp/start-authorization-server.ts";
import type { ScriptedTool } from "#e2e/fixtures/mcp/start-tool-server.ts";
import type { ClientCredentials } from "./connection/client-credentials.ts";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
const closing: (() => Promise<void>)[] = [];
after(async () => {
  await bench.close();
  for (const close of closing) await close();
});

const CLIENT = { clientId: "service:1", clientSecret: "canary-secret/of the client" };
type Options = Partial<Parameters<typeof startAuthorizationServer>[0]> & {
  speaks?: "stateless" | "older";
  tools?: ScriptedTool[];
  hasMetadata?: boolean;
  resource?: string;
};

/** Starts an authorization server, and a tool server that wants its tokens. */
async function start({
  speaks = "stateless",
  tools = [{ name: "get" }],
  hasMetadata,
  resource,
  ...more
}: Options = {}) {
  const encoded = {
    clientId: encodeURIComponent(CLIENT.clientId),
    clientSecret: encodeURIComponent(CLIENT.clientSecret),
  };
  const isPost = more.methods?.includes("client_secret_post") ?? false;
  const known = isPost ? CLIENT : encoded;
  const issuer = await startAuthorizationServer({ certificate: bench.certificate, ...known, ...more });
  closing.push(issuer.close);
  const server = await bench.startServer({
    speaks,
    tools,
    before({ path, headers, message }, response) {
      if (path.startsWith("/.well-known/oauth-protected-resource")) {
        if (hasMetadata === false) response.writeHead(404).end();
        else
          response
            .writeHead(200, { "content-type": "application/json" })
            .end(
              JSON.stringify({ resource: resource ?? server.url, authorization_servers: [issuer.origin] }),
            );
        return true;
      }
      if (issuer.accepts(headers)) return false;
      const metadata = `resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(401, {
        "www-authenticate": hasMetadata === false ? "Bearer" : `Bearer ${metadata}`,
      });
      response.end(JSON.stringify({ refused: headers.authorization, method: message?.method }));
      return true;
    },
  });
  const open = (auth: Partial<ClientCredentials> | null = {}) =>
    bench.open(
      { crm: server.url },
      { ...(auth && { auth: { crm: { type: "client_credentials", ...CLIENT, ...auth } } }) },
    );
  return { issuer, server, open };
}

describe("a tool server that wants OAuth tokens", () => {
  it("is skipped without them, with a reason that names the header, after one request", async () => {
    for (const [hasMetadata, rest] of [
      [true, ", or give auth with client credentials of its authorization server"],
      [false, ""],
    ] as const) {
      const { server, open } = await start({ hasMetadata });
      const { tools, skipped } = await open(null).list();
      const reason = `the server asks for authorization (401); send the header "Authorization: Bearer …" in its headers${rest}`;
      assert.deepEqual([tools, skipped], [[], [{ serverId: "crm", reason }]]);
      assert.equal(server.requests.length, 1);
    }
  });

  it("gets a token for client credentials, from its authorization server or the given address", async () => {
    for (const speaks of ["stateless", "older"] as const)
      for (const methods of [undefined, ["client_secret_basic"], ["client_secret_post"]] as const) {
        const { issuer, open } = await start({ speaks, ...(methods && { methods: [...methods] }) });
        const turn = open({ scope: "deals:read" });
        assert.deepEqual((await turn.list()).skipped, []);
        assert.deepEqual((await turn.call("get")).parts, [{ type: "text", text: "{}" }]);
        assert.equal(issuer.requests.length, 1);
        const form = issuer.requests[0]?.form ?? {};
        assert.deepEqual(
          [form.grant_type, form.scope, "client_secret" in form],
          ["client_credentials", "deals:read", methods?.[0] === "client_secret_post"],
        );
      }
    const { issuer, server, open } = await start({ hasMetadata: false });
    const { tools } = await open({ tokenUrl: issuer.tokenUrl }).list();
    assert.equal(tools.length, 1);
    assert.ok(server.requests.every(({ headers }) => headers.authorization?.startsWith("Bearer token-")));
    assert.equal(issuer.requests[0]?.form.resource, server.url);
  });

  it("gets a new token when the old one has expired, also in mid-turn, and the call is made once", async () => {
    const { issuer, server, open } = await start();
    const turn = open();
    await turn.list();
    issuer.expire();
    assert.deepEqual((await turn.call("get", { input: { a: 1 } })).parts, [
      { type: "text", text: '{"a":1}' },
    ]);
    assert.equal(issuer.requests.length, 2);
    assert.equal(server.messages("tools/call").length, 2, "one was refused, one was run");
    // Concurrent calls share one new token.
    issuer.expire();
    await Promise.all([1, 2, 3].map((a) => turn.call("get", { callId: `call_${a}`, input: { a } })));
    assert.ok(issuer.requests.length <= 4);
  });

  it("gets a new token before the old one expires", async () => {
    const { issuer, open } = await start({ expiresIn: 1 });
    const turn = open({ tokenUrl: issuer.tokenUrl });
    await turn.list();
    const begun = performance.now();
    while (issuer.requests.length === 1 && performance.now() - begun < 30_000) await turn.call("get");
    assert.equal(issuer.requests.length, 2);
  });

  it("is skipped with the reason if no token is given, which quotes neither server", async () => {
    const refused = await start();
    refused.issuer.answerWith(400);
    const none = await start({ hasMetadata: false });
    const other = await start({ resource: "https://other.example/mcp" });
    for (const [{ open }, reason] of [
      [refused, "the token endpoint answered with status 400"],
      [none, "the server does not say where its tokens come from; name it in auth.tokenUrl"],
      [other, "the server does not say where its tokens come from; name it in auth.tokenUrl"],
    ] as const)
      assert.deepEqual((await open().list()).skipped, [{ serverId: "crm", reason }]);
    assert.equal(
      other.issuer.requests.length,
      0,
      "the secret is not sent for the tokens of another resource",
    );
  });

  it("is skipped if the token endpoint is at an address that is not allowed, redirects, or answers without end", async () => {
    const { open } = await start();
    for (const [tokenUrl, reason] of [
      ["https://10.0.0.1/token", /^no token was obtained: .*(not allowed|private|refused)/],
      ["https://169.254.169.254/token", /^no token was obtained: /],
      ["http://127.0.0.1/token", /^no token was obtained: /],
    ] as const)
      assert.match((await open({ tokenUrl }).list()).skipped[0]?.reason ?? "", reason);
    const seen: string[] = [];
    const { cert, key } = bench.certificate;
    const odd = createServer({ cert, key }, ({ url = "" }, response) => {
      seen.push(url);
      if (url === "/endless") response.end(`{"access_token":"${"x".repeat(100_000)}"}`);
      else response.writeHead(307, { location: "/elsewhere" }).end();
    });
    await once(odd.listen(0, "127.0.0.1"), "listening");
    closing.push(async () => void odd.close());
    const origin = `https://127.0.0.1:${(odd.address() as AddressInfo).port}`;
    const redirected = await open({ tokenUrl: `${origin}/token` }).list();
    assert.equal(redirected.skipped[0]?.reason, "the token endpoint answered with status 307");
    const endless = await open({ tokenUrl: `${origin}/endless` }).list();
    assert.match(endless.skipped[0]?.reason ?? "", /^no token was obtained: .*larger than 65536 bytes/);
    assert.deepEqual(seen, ["/token", "/endless"]);
  });

  it("cannot show the agent its token or the client's secret", async () => {
    const { open } = await start({
      tools: [
        {
          name: "leak",
          answer: ({ headers }) => ({
            content: [{ type: "text", text: `${headers.authorization} ${CLIENT.clientSecret}` }],
          }),
        },
      ],
    });
    const turn = open();
    await turn.list();
    assert.deepEqual((await turn.call("leak")).parts, [
      { type: "text", text: "Bearer [redacted] [redacted]" },
    ]);
  });
});
