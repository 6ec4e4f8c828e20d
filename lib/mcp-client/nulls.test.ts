import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, describe, it } from "node:test";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
after(() => bench.close());

const info = { name: "nulls", version: "1" };
const initialized = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: info };
const tool = { name: "read", inputSchema: { type: "object" } };
const answer = { content: [{ type: "text", text: "seven" }] };

type Answers = Record<string, unknown>;
/** Writes one JSON-RPC message as the answer to a request. */
type Write = (response: ServerResponse, message: object) => void;

const writeJson: Write = (response, message) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
/** Writes the message as an event whose lines arrive in pieces, after an event with a notification. */
const writeEvents: Write = (response, message) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const notice = {
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", logger: null, data: null, _meta: null },
  };
  response.write(`: hello\r\n\r\nevent: message\r\ndata: ${JSON.stringify(notice)}\r\n\r`);
  const text = JSON.stringify(message);
  const half = Math.floor(text.length / 2);
  response.write(`\nevent: message\ndata: ${text.slice(0, half)}`);
  response.end(`${text.slice(half)}\n\n`);
};

/** Starts a server that gives these results, or whole messages that have a `jsonrpc` member, by method. */
const startServer = (answers: Answers, write: Write) =>
  bench.startServer({
    before({ message, method }, response) {
      if (method !== "POST") response.writeHead(405).end();
      else if (message?.id === undefined) response.writeHead(202).end();
      else {
        const result = answers[message.method ?? ""] ?? {};
        const isWhole = typeof result === "object" && "jsonrpc" in result;
        write(response, isWhole ? { ...result, id: message.id } : { jsonrpc: "2.0", id: message.id, result });
      }
      return true;
    },
  });

describe("null in a server's answers means absent", () => {
  const whole = { initialize: initialized, "tools/list": { tools: [tool] }, "tools/call": answer };
  const cases: [title: string, answers: Answers][] = [
    [
      "serverInfo.title",
      { initialize: { ...initialized, serverInfo: { ...info, title: null, websiteUrl: null, icons: null } } },
    ],
    ["instructions", { initialize: { ...initialized, instructions: null } }],
    [
      "capabilities",
      {
        initialize: {
          ...initialized,
          capabilities: { tools: { listChanged: null }, logging: null, prompts: null, tasks: null },
        },
      },
    ],
    [
      "_meta of each result",
      Object.fromEntries(Object.entries(whole).map(([name, result]) => [name, { ...result, _meta: null }])),
    ],
    ["nextCursor", { "tools/list": { tools: [tool], nextCursor: null } }],
    [
      "fields of a tool",
      {
        "tools/list": {
          tools: [
            {
              ...tool,
              title: null,
              description: null,
              annotations: null,
              outputSchema: null,
              icons: null,
              execution: null,
              _meta: null,
            },
          ],
        },
      },
    ],
    [
      "fields of annotations and schemas",
      {
        "tools/list": {
          tools: [
            {
              ...tool,
              inputSchema: null,
              annotations: { title: null, readOnlyHint: null, idempotentHint: null },
            },
          ],
        },
      },
    ],
    [
      "structuredContent, isError and fields of content",
      {
        "tools/call": {
          content: [{ ...answer.content[0], annotations: null, _meta: null }],
          structuredContent: null,
          isError: null,
        },
      },
    ],
    ["the error of an answer", { "tools/call": { jsonrpc: "2.0", result: answer, error: null } }],
  ];
  for (const [title, answers] of cases)
    it(title, async () => {
      for (const write of [writeJson, writeEvents]) {
        const server = await startServer({ ...whole, ...answers }, write);
        const { list, call } = bench.open({ crm: server.url });
        const { tools, skipped } = await list();
        assert.deepEqual([tools.map(({ tool: name }) => name), skipped], [["read"], []]);
        assert.deepEqual(await call("read"), { isError: false, parts: answer.content });
      }
    });

  it("content", async () => {
    const server = await startServer({ ...whole, "tools/call": { content: null } }, writeJson);
    assert.deepEqual(await bench.open({ crm: server.url }).call("read"), { isError: false, parts: [] });
  });

  it("the result of an error, and its data", async () => {
    const error = { code: -32_602, message: "no such deal", data: null };
    const server = await startServer(
      { ...whole, "tools/call": { jsonrpc: "2.0", result: null, error } },
      writeEvents,
    );
    const { isError, parts } = await bench.open({ crm: server.url }).call("read");
    assert.deepEqual([isError, parts], [true, [{ type: "text", text: "MCP error -32602: no such deal" }]]);
  });

  it("but null in data is a value: in structured content, and in schemas", async () => {
    const structuredContent = { owner: null, rows: [null, { a: null }] };
    const inputSchema = {
      type: "object",
      properties: { owner: { enum: [null, "me"] }, title: { type: "string" } },
      required: ["title"],
    };
    const server = await startServer(
      {
        ...whole,
        "tools/list": { tools: [{ ...tool, inputSchema, _meta: null }], nextCursor: null },
        "tools/call": { content: [], structuredContent, _meta: null },
      },
      writeEvents,
    );
    const { list, call } = bench.open({ crm: server.url });
    const [listed] = (await list()).tools;
    assert.match(JSON.stringify(listed?.inputSchema), /null/);
    const [part] = (await call("read")).parts;
    assert.deepEqual(part?.type === "text" && JSON.parse(part.text), structuredContent);
  });

  it("but null where a field is required stays a failure of the server", async () => {
    for (const result of [
      { ...initialized, protocolVersion: null },
      { ...initialized, serverInfo: null },
    ]) {
      const server = await startServer({ ...whole, initialize: result }, writeJson);
      const { skipped } = await bench.open({ crm: server.url }).list();
      assert.equal(skipped[0]?.reason, "the server's answer is not what the protocol asks for");
    }
  });
});
