import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { ScriptedTool, ToolServerOptions } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
after(() => bench.close());

/** Opens a turn with a server of the revision 2026-07-28, and lists its tools. */
async function openWith(tools: ScriptedTool[], options: ToolServerOptions = {}) {
  const server = await bench.startServer({ tools, speaks: "stateless", ...options });
  const turn = bench.open({ crm: server.url });
  const listed = await turn.list();
  const call = (tool: string, input: Record<string, unknown> = {}) =>
    turn.call(tool, { input, remote: listed.tools.find((each) => each.tool === tool) });
  return { server, turn, listed, call };
}

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const headersOf = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));

describe("parameters that are also headers", () => {
  const properties = {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    options: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry-Run" } } },
    "x-mcp-header": { type: "string" },
  };
  const answer: ScriptedTool["answer"] = ({ headers }) => text(JSON.stringify(headersOf(headers)));
  const find = { name: "find", inputSchema: { type: "object" as const, properties }, answer };

  it("are sent with the call, encoded where a header needs it; absent ones and nulls are not sent", async () => {
    const { call } = await openWith([find]);
    const read = async (input: Record<string, unknown>) => {
      const [part] = (await call("find", input)).parts;
      return JSON.parse(part?.type === "text" ? part.text : "");
    };
    assert.deepEqual(await read({ region: "eu west", count: 3, options: { dry: false } }), {
      "mcp-param-region": "eu west",
      "mcp-param-count": "3",
      "mcp-param-dry-run": "false",
    });
    assert.deepEqual(await read({ region: null, count: 1.5, options: "dry", toString: 1 }), {});
    for (const region of ["Zürich", " a", "a\r\nb: c", "", "=?base64?YQ==?="])
      assert.deepEqual(await read({ region }), {
        "mcp-param-region": `=?base64?${Buffer.from(region).toString("base64")}?=`,
      });
  });

  it("are read again if the server says that the headers do not fit, and the call is made once more", async () => {
    let refusals = 0;
    const { server, call } = await openWith([{ name: "find" }], {
      before({ message, headers }, response) {
        if (message?.method !== "tools/call" || headers["mcp-param-region"] === "eu") return false;
        refusals += 1;
        response.writeHead(400, { "content-type": "application/json" });
        const error = { code: -32020, message: "refused", data: { mismatch: "mcp-param-region" } };
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
        return true;
      },
    });
    server.setTools([find]);
    assert.deepEqual((await call("find", { region: "eu" })).isError, false);
    server.setTools([{ name: "find" }]);
    await assert.rejects(call("find", { region: "asia" }), {
      name: "McpFailure",
      message: "the server says that the headers of the request do not fit its body",
    });
    assert.deepEqual([refusals, server.messages("tools/list").length], [3, 3]);
  });

  it("make a tool unusable if they are declared where the protocol does not allow it", async () => {
    const at = (schema: object) => ({ inputSchema: { type: "object" as const, ...schema } as never });
    const header = { type: "string", "x-mcp-header": "A" };
    const wrong = [
      { properties: { a: { type: "number", "x-mcp-header": "A" } } },
      { properties: { a: { type: "string", "x-mcp-header": "A B" } } },
      { properties: { a: { type: "string", "x-mcp-header": 1 } } },
      { properties: { a: header, b: { ...header, "x-mcp-header": "a" } } },
      { properties: { a: { type: "array", items: header } } },
      { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: header } },
      { anyOf: [{ properties: { a: header } }] },
      { "x-mcp-header": "A" },
    ];
    const tools = wrong.map((schema, index) => ({ name: `wrong_${index}`, ...at(schema) }));
    const { listed } = await openWith([{ name: "good" }, ...tools]);
    assert.deepEqual(
      [listed.tools.map(({ tool }) => tool), listed.skipped],
      [
        ["good"],
        [
          {
            serverId: "crm",
            reason: "its input schema declares headers that the protocol does not allow",
            tools: tools.map(({ name }) => name),
            toolCount: tools.length,
          },
        ],
      ],
    );
  });

  it("do not matter in older revisions", async () => {
    const older = await bench.startServer({
      tools: [{ ...find, inputSchema: { ...find.inputSchema } as never }],
    });
    const { list } = bench.open({ crm: older.url });
    assert.deepEqual(
      (await list()).tools.map(({ paramHeaders }) => paramHeaders),
      [undefined],
    );
  });
});

describe("structured content", () => {
  it("does not carry secrets, and may be described by a schema that is nested deeply", async () => {
    let deep: object = { const: "canary-of-crm" };
    for (let level = 0; level < 1_500; level++) deep = { not: deep };
    const server = await bench.startServer({
      speaks: "stateless",
      tools: [
        { name: "deep", outputSchema: deep as never, answer: () => ({ content: [], structuredContent: 1 }) },
        { name: "said", outputSchema: { const: "canary-of-crm" } as never },
      ],
    });
    const turn = bench.open(
      { crm: server.url },
      { headers: { crm: { authorization: "Bearer canary-of-crm" } } },
    );
    const { tools, skipped } = await turn.list();
    assert.deepEqual([tools.length, skipped], [2, []]);
    assert.equal(tools[1]?.outputSchema, '{"const":"[redacted]"}');
    assert.doesNotMatch(JSON.stringify(tools), /canary/);
    assert.deepEqual((await turn.call("deep", { remote: tools[0] })).parts, [{ type: "text", text: "1" }]);
  });

  it("is not checked again in a turn if the schema takes too long", async () => {
    let checks = 0;
    const tools = [
      { name: "slow", outputSchema: {} as never, answer: () => ({ content: [], structuredContent: 1 }) },
    ];
    const server = await bench.startServer({ tools, speaks: "stateless" });
    const turn = bench.open(
      { crm: server.url },
      { checkOutput: async () => ({ valid: false, error: `too slow ${++checks}` }) },
    );
    const [remote] = (await turn.list()).tools;
    for (const _ of [1, 2])
      assert.deepEqual((await turn.call("slow", { remote })).parts, [{ type: "text", text: "1" }]);
    assert.equal(checks, 1);
  });
});

describe("what a server leaves out", () => {
  it("may be null, everywhere", async () => {
    const server = await bench.startServer({
      tools: [],
      speaks: "stateless",
      before({ message }, response) {
        const write = (result: object) => {
          response.writeHead(200, { "content-type": "application/json" });
          const meta = { _meta: null, resultType: null };
          response.end(
            JSON.stringify({ jsonrpc: "2.0", id: message?.id, error: null, result: { ...meta, ...result } }),
          );
          return true;
        };
        const lists = { nextCursor: null, ttlMs: null, cacheScope: null };
        const tool = {
          title: null,
          description: null,
          outputSchema: null,
          annotations: null,
          execution: null,
        };
        switch (message?.method) {
          case "server/discover":
            return write({
              supportedVersions: ["2026-07-28"],
              capabilities: { tools: {} },
              instructions: null,
            });
          case "tools/list":
            return write({ ...lists, tools: [{ name: "get", inputSchema: { type: "object" }, ...tool }] });
          default:
            return write({
              content: [{ type: "text", text: "got", annotations: null, _meta: null }],
              structuredContent: null,
              isError: null,
              inputRequests: null,
              requestState: null,
            });
        }
      },
    });
    const turn = bench.open({ crm: server.url });
    const { tools, skipped } = await turn.list();
    assert.deepEqual([tools.map(({ tool }) => tool), skipped], [["get"], []]);
    assert.deepEqual(await turn.call("get"), { isError: false, parts: [{ type: "text", text: "got" }] });
  });
});

describe("a list of tools", () => {
  it("is used again within a turn for as long as the server allows, and never in another turn", async () => {
    for (const [ttlMs, lists] of [
      [60_000, 1],
      [0, 2],
    ] as const) {
      const { turn, server } = await openWith([{ name: "get" }], { ttlMs });
      assert.equal((await turn.list()).tools.length, 1);
      assert.equal(server.messages("tools/list").length, lists);
      assert.equal((await bench.open({ crm: server.url }).list()).tools.length, 1);
      assert.equal(server.messages("tools/list").length, lists + 1);
    }
  });
});

describe("an answer that breaks off", () => {
  /** Breaks the answer of the first call, after a notification or before anything. */
  const breakFirst = (isBegun: boolean): NonNullable<ScriptedTool["answer"]> => {
    let calls = 0;
    return ({ notify, response }) => {
      if (++calls > 1) return text(`call ${calls}`);
      if (isBegun) notify("notifications/message", { level: "info", data: "begun" });
      setImmediate(() => response.destroy());
      return undefined;
    };
  };

  it("is followed by a second call only if the tool says that it reads or can be repeated", async () => {
    for (const isBegun of [true, false]) {
      const { call, server } = await openWith([
        { name: "read", annotations: { readOnlyHint: true }, answer: breakFirst(isBegun) },
        { name: "put", annotations: { idempotentHint: true }, answer: breakFirst(isBegun) },
        { name: "pay", answer: breakFirst(isBegun) },
      ]);
      for (const name of ["read", "put"])
        assert.deepEqual((await call(name)).parts, [{ type: "text", text: "call 2" }]);
      await assert.rejects(call("pay"), { name: "McpFailure" });
      assert.equal(server.messages("tools/call").length, 5);
    }
  });

  it("is followed by a second call in older revisions, too", async () => {
    for (const [annotations, count] of [
      [{ readOnlyHint: true }, 2],
      [{}, 1],
    ] as const) {
      let calls = 0;
      const server = await bench.startServer({
        tools: [{ name: "get", annotations }],
        before({ message }, response) {
          if (message?.method !== "tools/call" || ++calls > 1) return false;
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(": begun\n\n");
          setImmediate(() => response.destroy());
          return true;
        },
      });
      const turn = bench.open({ crm: server.url });
      const [remote] = (await turn.list()).tools;
      const calling = turn.call("get", { remote });
      if (count === 1) await assert.rejects(calling, { name: "McpFailure" });
      else assert.deepEqual((await calling).parts, [{ type: "text", text: "{}" }]);
      assert.equal(server.messages("tools/call").length, count);
    }
  });

  it("is a failure if the second answer breaks off, too", async () => {
    const { call, server } = await openWith([
      {
        name: "read",
        annotations: { readOnlyHint: true },
        answer: ({ response }) => void response.destroy(),
      },
    ]);
    await assert.rejects(call("read"), { name: "McpFailure" });
    assert.equal(server.messages("tools/call").length, 2);
  });
});

describe("each request", () => {
  it("has a trace context, with one trace for each run", async () => {
    const { turn, call, server } = await openWith([{ name: "get" }]);
    await call("get");
    await bench.open({ crm: server.url }).call("get");
    const traces = server.requests.flatMap(({ message }) => {
      const meta = message?.params?._meta as Record<string, string> | undefined;
      return meta?.traceparent === undefined ? [] : [meta.traceparent];
    });
    assert.equal(traces.length, 3);
    for (const trace of traces) assert.match(trace, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const ids = traces.map((trace) => trace.split("-"));
    assert.equal(ids[0]?.[1], ids[1]?.[1]);
    assert.notEqual(ids[0]?.[2], ids[1]?.[2]);
    assert.notEqual(ids[1]?.[1], ids[2]?.[1]);
    assert.ok(turn);
    const older = await bench.startServer({ tools: [{ name: "get" }] });
    await bench.open({ crm: older.url }).call("get");
    const [sent] = older.messages("tools/call");
    assert.match(JSON.stringify(sent?.params?._meta), /"traceparent":"00-/);
  });

  it("sends the headers of the server, but none that the protocol sets", async () => {
    const server = await bench.startServer({ tools: [{ name: "get" }], speaks: "stateless" });
    const headers = {
      crm: { Authorization: "Bearer secret-of-crm", "Mcp-Method": "x", "Mcp-Name": "x", "Mcp-Param-A": "x" },
    };
    const turn = bench.open({ crm: server.url }, { headers });
    await turn.list();
    await turn.call("get");
    for (const { headers: sent } of server.requests) {
      assert.equal(sent.authorization, "Bearer secret-of-crm");
      assert.equal(sent["mcp-param-a"], undefined);
    }
  });

  it("is cancelled by closing its answer", async () => {
    const closed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { turn, server } = await openWith([
      {
        name: "hang",
        answer({ response }) {
          response.once("close", () => closed.resolve());
          begun.resolve();
          return undefined;
        },
      },
    ]);
    const stop = new AbortController();
    const calling = turn.call("hang", { signal: stop.signal });
    await begun.promise;
    stop.abort();
    await assert.rejects(calling, { message: "the turn was stopped" });
    await closed.promise;
    assert.equal(server.messages("notifications/cancelled").length, 0);
  });

  it("may take longer than a call without progress, if the server reports progress", async () => {
    const server = await bench.startServer({
      speaks: "stateless",
      tools: [
        {
          name: "slow",
          async answer({ params, notify }) {
            const { progressToken } = params._meta as { progressToken: number };
            for (let progress = 1; progress <= 6; progress++) {
              await new Promise((resolve) => setTimeout(resolve, 100));
              notify("notifications/progress", { progressToken, progress });
            }
            return text("done");
          },
        },
        { name: "hang", answer: () => undefined },
      ],
    });
    const { call } = bench.open({ crm: server.url }, { limits: { callIdleMs: 400 } });
    assert.deepEqual((await call("slow")).parts, [{ type: "text", text: "done" }]);
    await assert.rejects(call("hang"), { message: "the server was silent for 0.4 s" });
  });
});
