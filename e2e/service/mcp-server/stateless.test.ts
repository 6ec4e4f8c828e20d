import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { waitUntil } from "../testing.ts";
import { listNames, type McpService, openMcpService } from "./builtin-mcp-testing.ts";
import { startConformanceServer } from "./mcp-conformance-testing.ts";

const REVISION = "2026-07-28";

let mcp: McpService;
let token: string;
let sessionId: string;
before(async () => {
  mcp = await openMcpService({ SANDBOX: "unconfined" });
  ({ sessionId } = await mcp.service.create("Say something."));
  token = await mcp.requestToken(sessionId);
});
after(() => mcp.close());

/** Connects a client of the official package that speaks only the new revision. Records the bodies of its requests. */
async function connect(url = mcp.url) {
  const sent: { method: string }[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: { pin: REVISION } } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch(url, init) {
      if (typeof init?.body === "string") sent.push(JSON.parse(init.body));
      return fetch(url, init);
    },
  });
  await client.connect(transport);
  return { client, sent };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Posts a request of the new revision without a client. */
async function post(
  method: string,
  { params = {}, headers = {}, as = token }: { params?: object; headers?: object; as?: string } = {},
) {
  const body = { jsonrpc: "2.0", id: 7, method, params: { _meta: META, ...params } };
  const response = await mcp.post(as, body, {
    "mcp-protocol-version": REVISION,
    "mcp-method": method,
    ...headers,
  });
  const text = await response.text();
  const data = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}");
  return { status: response.status, type: response.headers.get("content-type"), body: JSON.parse(data) };
}

test("a client of the revision without `initialize` gets the same tools and calls them", async () => {
  const { client, sent } = await connect();
  const { tools } = await client.listTools();
  const older = await mcp.connect(token);
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), await listNames(older));
  const written = await client.callTool({
    name: "write_file",
    arguments: { path: "notes.txt", content: "over MCP" },
  });
  assert.notEqual(written.isError, true);
  const read = await older.callTool({ name: "read_file", arguments: { path: "notes.txt" } });
  assert.match(JSON.stringify(read.content), /over MCP/);
  assert.ok(!sent.some(({ method }) => method === "initialize"));
  await client.close();
});

test("the list says for how long it may be kept, and by whom", async () => {
  const { body } = await post("tools/list");
  assert.equal(body.result.resultType, "complete");
  assert.deepEqual([body.result.ttlMs, body.result.cacheScope], [300_000, "private"]);
  const discovered = await post("server/discover");
  assert.deepEqual(discovered.body.result.supportedVersions, [REVISION]);
  assert.match(discovered.body.result.instructions, /What pages say is data/);
});

test("a call is answered with a stream, which reports progress before the result", async () => {
  const server = await startConformanceServer();
  const { client } = await connect(server.url);
  const progress: number[] = [];
  await client.callTool(
    { name: "test_tool_with_progress" },
    { onprogress: (report) => void progress.push(report.progress) },
  );
  assert.deepEqual(progress, [0, 50, 100]);
  await client.close();
  server.close();
  const params = { name: "list_files", arguments: {} };
  const { type } = await post("tools/call", { params, headers: { "mcp-name": "list_files" } });
  assert.equal(type, "text/event-stream");
});

test("a request that does not fit the revision is refused with its code", async () => {
  const call = { params: { name: "list_files", arguments: {} } };
  for (const [answer, status, code] of [
    [await post("tools/call", { ...call, headers: { "mcp-name": "read_file" } }), 400, -32020],
    [await post("tools/list", { headers: { "mcp-method": "tools/call" } }), 400, -32020],
    [await post("initialize"), 404, -32601],
    [await post("tools/call", { params: { name: "none" }, headers: { "mcp-name": "none" } }), 200, -32602],
    [
      await post("subscriptions/listen", { params: { notifications: { toolsListChanged: true } } }),
      200,
      -32603,
    ],
  ] as const)
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify(answer.body));
  const version = "2031-01-01";
  const unknown = await post("tools/list", {
    params: { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": version } },
    headers: { "mcp-protocol-version": version },
  });
  assert.deepEqual([unknown.status, unknown.body.error.code], [400, -32022]);
  assert.ok(unknown.body.error.data.supported.includes(REVISION));
  assert.equal((await post("tools/list", { as: "wrong" })).status, 401);
});

test("a call ends when its client disconnects", async () => {
  const stop = new AbortController();
  const { client } = await connect();
  const call = client.callTool(
    { name: "run_shell", arguments: { command: "touch began; sleep 300" } },
    { signal: stop.signal },
  );
  const ended = assert.rejects(call);
  const files = async () =>
    JSON.stringify(
      await post("tools/call", {
        params: { name: "list_files", arguments: {} },
        headers: { "mcp-name": "list_files" },
      }),
    );
  await waitUntil(async () => {
    const { data } = await mcp.service.read<{ data: { kind: string }[] }>(`/api/sessions/${sessionId}/files`);
    return JSON.stringify(data).includes("began");
  }, "the command runs");
  stop.abort();
  await ended;
  // Calls of a session run one after the other, so this one would wait for the command.
  assert.match(await files(), /began/);
  await client.close();
});
