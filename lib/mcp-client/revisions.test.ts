import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { ToolServerOptions } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
after(() => bench.close());

const tools = [{ name: "echo" }];

/** Starts a server, lists its tools and calls one. Returns the methods of the requests, in order. */
async function use(options: ToolServerOptions, revisions: Record<string, string> = {}, limits = {}) {
  const server = await bench.startServer({ tools, ...options });
  const turn = bench.open({ crm: server.url }, { revisions, limits });
  const { skipped, revisions: found, ...listed } = await turn.list();
  assert.deepEqual(
    [skipped, listed.tools.map(({ name }) => name)],
    [[], ["mcp_crm__echo"]],
    JSON.stringify(skipped),
  );
  const { parts } = await turn.call("echo", { input: { a: 1 } });
  assert.deepEqual(parts, [{ type: "text", text: '{"a":1}' }]);
  const methods = () =>
    server.requests.flatMap(({ method, message }) =>
      method === "POST" ? [message?.method ?? "an answer"] : [],
    );
  return { server, turn, revision: found.crm, methods: methods() };
}

const SESSION = ["initialize", "notifications/initialized", "tools/list", "tools/call"];
const STATELESS = ["tools/list", "tools/call"];

describe("the client speaks the newest revision of a tool server", () => {
  it("2026-07-28 with a server that speaks only this, and with one that speaks all", async () => {
    for (const speaks of ["stateless", "both"] as const) {
      const { revision, methods, server } = await use({ speaks });
      assert.deepEqual([revision, methods], ["2026-07-28", ["server/discover", ...STATELESS]]);
      const [call] = server.messages("tools/call");
      assert.deepEqual(
        (call?.params?._meta as Record<string, unknown>)?.["io.modelcontextprotocol/clientCapabilities"],
        {
          elicitation: { form: {} },
        },
      );
    }
  });

  it("an older one with a server that does not know 2026-07-28, after one further request", async () => {
    const { revision, methods } = await use({});
    assert.deepEqual([revision, methods], ["2025-11-25", ["server/discover", ...SESSION]]);
  });

  it("without a further request, if the session remembers the revision", async () => {
    const stateless = await use({ speaks: "stateless" }, { crm: "2026-07-28" });
    assert.deepEqual(stateless.methods, STATELESS);
    const older = await use({}, { crm: "2025-06-18" });
    assert.deepEqual(older.methods, SESSION);
    // A server that speaks both is not asked again.
    const both = await use({ speaks: "both" }, { crm: "2025-06-18" });
    assert.deepEqual([both.revision, both.methods], ["2025-11-25", SESSION]);
  });

  it("after one further request, if what the session remembers is not true any more", async () => {
    const upgraded = await use({ speaks: "stateless" }, { crm: "2025-11-25" });
    assert.deepEqual([upgraded.revision, upgraded.methods], ["2026-07-28", ["initialize", ...STATELESS]]);
    const downgraded = await use({}, { crm: "2026-07-28" });
    assert.deepEqual([downgraded.revision, downgraded.methods], ["2025-11-25", ["tools/list", ...SESSION]]);
  });

  it("also after a restart in mid-turn with another revision", async () => {
    let speaks: "stateless" | "older" = "stateless";
    const old = await bench.startServer({ tools });
    const server = await bench.startServer({
      tools,
      speaks: "stateless",
      async before({ method, headers, message }, response) {
        if (speaks === "stateless") return false;
        // Now the older server answers at this URL.
        const sent = new Headers(
          Object.entries(headers).filter(([name]) => name.startsWith("mcp-")) as never,
        );
        sent.set("content-type", "application/json");
        sent.set("accept", "application/json, text/event-stream");
        const answer = await fetch(old.url, {
          method,
          headers: sent,
          ...(message && { body: JSON.stringify(message) }),
        });
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
        return true;
      },
    });
    const { list, call } = bench.open({ crm: server.url });
    await list();
    speaks = "older";
    assert.deepEqual((await call("echo", { input: { a: 2 } })).parts, [{ type: "text", text: '{"a":2}' }]);
    assert.deepEqual(
      old.requests.flatMap(({ method, message }) => (method === "POST" ? [message?.method] : [])),
      ["tools/call", "initialize", "notifications/initialized", "tools/call"],
    );
    assert.equal(server.messages("server/discover").length, 1);
  });

  it("an older one if the server is silent; the 15 s of a listing include the time to find out", async () => {
    const hang = (methods: string[]) => ({
      before: ({ message }: { message: { method?: string } | undefined }) =>
        methods.includes(message?.method ?? ""),
    });
    const { revision } = await use(hang(["server/discover"]), {}, { probeMs: 50 });
    assert.equal(revision, "2025-11-25");
    const slow = await use({ ...hang(["server/discover"]), speaks: "stateless" }, {}, { probeMs: 50 });
    assert.deepEqual(slow.methods, ["server/discover", "initialize", ...STATELESS]);
    const server = await bench.startServer({ tools, ...hang(["server/discover", "initialize"]) });
    const { skipped } = await bench
      .open({ crm: server.url }, { limits: { probeMs: 50, listMs: 200 } })
      .list();
    assert.deepEqual(skipped, [
      { serverId: "crm", reason: "the server did not list its tools within 0.2 s" },
    ]);
  });

  it("2026-07-28 with a server that refuses to be asked, and names it", async () => {
    const { methods, revision } = await use({
      speaks: "stateless",
      before({ message }, response) {
        if (message?.method !== "server/discover") return false;
        const error = {
          code: -32022,
          message: "refused",
          data: { supported: ["2026-07-28"], requested: "?" },
        };
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
        return true;
      },
    });
    assert.deepEqual([revision, methods], ["2026-07-28", ["server/discover", ...STATELESS]]);
  });

  it("also behind a redirect on its own host", async () => {
    for (const speaks of ["stateless", "older"] as const) {
      const { methods } = await use({
        speaks,
        before({ path }, response) {
          if (path === "/mcp/") return false;
          response.writeHead(307, { location: "/mcp/" }).end();
          return true;
        },
      });
      assert.equal(methods.at(-1), "tools/call");
    }
  });

  it("and asks nothing else of a server that refuses its credentials", async () => {
    for (const status of [401, 403]) {
      const server = await bench.startServer({
        before: (_, response) => {
          response.writeHead(status).end();
          return true;
        },
      });
      const { skipped } = await bench.open({ crm: server.url }).list();
      assert.deepEqual(skipped, [{ serverId: "crm", reason: `the server answered with status ${status}` }]);
      assert.equal(server.requests.length, 1);
    }
  });

  it("never with the transport HTTP with SSE", async () => {
    const server = await bench.startServer({ tools });
    const { list } = bench.open({ crm: { url: server.sseUrl, type: "sse" } });
    assert.deepEqual((await list()).tools.length, 1);
    assert.equal(server.messages("server/discover").length, 0);
  });
});
