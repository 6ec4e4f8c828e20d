import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { ScriptedTool } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { McpFailure } from "./mcp-error.ts";
import { openMcpBench } from "./testing.ts";
import { readAnswer } from "./tools/read-answer.ts";

const bench = openMcpBench();
after(() => bench.close());

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Opens a turn whose only server, `crm`, has these tools. */
async function openWith(tools: ScriptedTool[], options: Parameters<typeof bench.open>[1] = {}) {
  const server = await bench.startServer({ tools });
  return { server, ...bench.open({ crm: server.url }, options) };
}

async function waitUntil(condition: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error("waited in vain");
    await sleep(5);
  }
}

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

describe("the result of a tool call", () => {
  it("has text, and pictures as bytes; other content is described", async () => {
    const { call } = await openWith([
      {
        name: "all",
        call: () => ({
          content: [
            { type: "text", text: "hello" },
            { type: "image", data: pixel, mimeType: "image/png" },
            { type: "audio", data: "A".repeat(4_096), mimeType: "audio/wav" },
            { type: "resource_link", uri: "crm://deal/7", name: "deal 7", mimeType: "text/plain" },
            { type: "resource", resource: { uri: "crm://note/1", text: "a note" } },
            {
              type: "resource",
              resource: { uri: "crm://file/2", blob: "AAAA", mimeType: "application/pdf" },
            },
          ],
        }),
      },
    ]);
    const { isError, parts } = await call("all");
    assert.equal(isError, false);
    assert.deepEqual(
      parts.map((part) => (part.type === "picture" ? part.bytes.byteLength : part.text)),
      [
        "hello",
        Buffer.from(pixel, "base64").byteLength,
        "[A recording (audio/wav) of 3 KiB is not shown.]",
        "[Link to a resource: crm://deal/7 (deal 7, text/plain)]",
        "[Resource crm://note/1]\na note",
        "[Resource crm://file/2]",
        "[Its content (application/pdf) of 1 KiB is not shown.]",
      ],
    );
  });

  it("has the structured content once, and the server's own schema is not compiled in this thread", async () => {
    const outputSchema = {
      type: "object" as const,
      properties: { a: { type: "string", pattern: "(a+)+$" } },
    };
    const structuredContent = { a: 1 };
    const { call, list } = await openWith([
      { name: "twice", outputSchema, call: () => ({ ...text('{ "a": 1 }'), structuredContent }) },
      { name: "alone", outputSchema, call: () => ({ content: [], structuredContent }) },
      { name: "zero", call: () => ({ ...text('{ "a": -0 }'), structuredContent: { a: 0 } }) },
    ]);
    await list();
    assert.equal((await call("zero")).parts.length, 1);
    for (const tool of ["twice", "alone"]) {
      const { parts } = await call(tool);
      assert.deepEqual(
        parts.map((part) => part.type === "text" && JSON.parse(part.text)),
        [structuredContent],
      );
    }
  });

  it("is not larger than the server's message, however deep its structured content is", async () => {
    let deep: unknown = Array(100_000).fill(0);
    for (let level = 0; level < 1_000; level++) deep = [deep];
    const read = (structuredContent: unknown) =>
      readAnswer({ content: [], structuredContent, isError: false });
    const [part] = read({ deep }).parts;
    assert.equal(part?.type === "text" && part.text, JSON.stringify({ deep }));
    assert.deepEqual(read({ a: 1 }).parts, [{ type: "text", text: '{\n "a": 1\n}' }]);
    // A value that cannot be written is a failure of the call.
    const nest = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const server = await bench.startServer({
      tools: [{ name: "deep" }],
      before({ message }, response) {
        if (message?.method !== "tools/call") return false;
        response.setHeader("content-type", "application/json");
        response.end(
          `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":{"deep":${nest}}}}`,
        );
        return true;
      },
    });
    const { call } = bench.open({ crm: server.url });
    await assert.rejects(call("deep"), { name: "McpFailure" });
  });

  it("has a note for content of an unknown type", () => {
    const { parts } = readAnswer({ content: [{ type: "hologram" }, 7], isError: false });
    const note = "[A piece of the answer is of a kind that is not known here.]";
    assert.deepEqual(parts, [
      { type: "note", text: note },
      { type: "note", text: note },
    ]);
  });

  it("is cut if it has too many pieces", () => {
    const content = Array.from({ length: 300_000 }, () => ({ type: "text", text: "a" }));
    const { parts } = readAnswer({ content, isError: false });
    assert.equal(parts.length, 1_001);
    assert.deepEqual(parts.at(-1), {
      type: "note",
      text: "[299000 more pieces of the answer are not shown.]",
    });
  });

  it("can be an error of the tool or of the protocol", async () => {
    const { call } = await openWith([
      { name: "no", call: () => ({ ...text("no such deal"), isError: true }) },
      { name: "throw", call: () => Promise.reject(new Error("id is missing")) },
    ]);
    assert.deepEqual(await call("no"), { isError: true, parts: [{ type: "text", text: "no such deal" }] });
    const { isError, parts } = await call("throw");
    assert.deepEqual([isError, parts], [true, [{ type: "text", text: "MCP error -32603: id is missing" }]]);
  });

  it("is refused if it is too large, and the next call succeeds", async () => {
    const { call } = await openWith([{ name: "huge", call: ({ size }) => text("x".repeat(Number(size))) }], {
      limits: { messageBytesMax: 1_000_000 },
    });
    await assert.rejects(
      call("huge", { input: { size: 2_000_000 } }),
      /larger than|broke off|closed the connection/,
    );
    assert.equal((await call("huge", { input: { size: 900_000 } })).parts.length, 1);
  });
});

describe("a call", () => {
  it("uses the turn's only connection to the server, and sends its input", async () => {
    const { call, list, server } = await openWith([{ name: "echo" }]);
    await list();
    const answers = await Promise.all([1, 2, 3].map((n) => call("echo", { input: { n } })));
    assert.deepEqual(
      answers.map(({ parts }) => parts[0]),
      [1, 2, 3].map((n) => ({ type: "text", text: `{"n":${n}}` })),
    );
    assert.equal(server.messages("initialize").length, 1);
  });

  it("also works over HTTP with SSE, and opens a new connection if the old one broke", async () => {
    const slow = { name: "slow", call: () => sleep(600).then(() => text("slowly")) };
    const server = await bench.startServer({ tools: [{ name: "echo" }, slow] });
    const { call } = bench.open({ crm: { url: server.sseUrl, type: "sse" } });
    assert.equal((await call("echo")).parts.length, 1);
    assert.deepEqual((await call("slow")).parts, [{ type: "text", text: "slowly" }]);
    server.dropConnections();
    // Calls fail until the client notices that the connection broke, so up to three are made.
    const again = () => call("echo").then(({ parts }) => parts.length);
    assert.equal(await again().catch(again).catch(again), 1);
  });

  for (const type of ["http", "sse"] as const)
    for (const status of [404, 400])
      it(`is retried once if the server has lost the session (${type}, ${status}), like a listing`, async () => {
        const server = await bench.startServer({ tools: [{ name: "echo" }] });
        const url = type === "sse" ? server.sseUrl : server.url;
        const { call, list } = bench.open({ crm: { url, type } });
        await list();
        server.forgetSessions(status);
        assert.equal((await call("echo")).parts.length, 1);
        assert.equal(server.messages("initialize").length, 2);
        assert.equal(server.messages("tools/call").length, 2);
        server.forgetSessions(status);
        assert.equal((await list()).tools.length, 1);
        assert.equal(server.messages("initialize").length, 3);
      });

  it("is not repeated without end, and not without a session: 400 then refuses the call itself", async () => {
    for (const [hasSession, calls] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const server = await bench.startServer({
        tools: [{ name: "echo" }],
        before({ message }, response) {
          if (message?.method === "tools/call") response.writeHead(400).end("bad request");
          else if (message?.method === "initialize" && !hasSession)
            response.writeHead(200, { "content-type": "application/json" }).end(
              JSON.stringify({
                jsonrpc: "2.0",
                id: message.id,
                result: {
                  protocolVersion: "2025-06-18",
                  capabilities: { tools: {} },
                  serverInfo: { name: "a", version: "1" },
                },
              }),
            );
          else if (!hasSession) response.writeHead(202).end();
          else return false;
          return true;
        },
      });
      const { call } = bench.open({ crm: server.url });
      await assert.rejects(call("echo"), { message: "the server answered with status 400" });
      assert.equal(server.messages("tools/call").length, calls);
    }
  });

  it("fails at once if the connection breaks, and is not retried", async () => {
    const { call, server } = await openWith([
      {
        name: "die",
        call() {
          server.dropConnections();
          return new Promise(() => {});
        },
      },
    ]);
    await assert.rejects(call("die"), /broke off|closed the connection/);
    assert.equal(server.messages("tools/call").length, 1);
  });

  it("fails with isUnsent if it could not be sent", async () => {
    const server = await bench.startServer();
    await server.close();
    const failed = await bench
      .open({ crm: server.url })
      .call("echo")
      .catch((error: unknown) => error);
    assert.ok(failed instanceof McpFailure && failed.isUnsent);
  });

  it("is cancelled at the server if the server is silent for too long, or if the call takes too long in total", async () => {
    const cancelled: unknown[] = [];
    const hang: ScriptedTool = {
      name: "hang",
      async call(input, extra) {
        const timer = input.hasProgress
          ? setInterval(() => {
              const progressToken = extra._meta?.progressToken ?? 0;
              const params = { progressToken, progress: cancelled.length };
              extra.sendNotification({ method: "notifications/progress", params }).catch(() => {});
            }, 40)
          : undefined;
        await new Promise<void>((done) => extra.signal.addEventListener("abort", () => done()));
        clearInterval(timer);
        cancelled.push(input);
        return text("too late");
      },
    };
    const { call } = await openWith([hang], { limits: { callIdleMs: 500, callMs: 1_200 } });
    await assert.rejects(call("hang"), /^McpFailure: the server was silent for 0.5 s$/);
    const startedAt = performance.now();
    await assert.rejects(call("hang", { input: { hasProgress: true } }), /the call took longer than 1.2 s/);
    assert.ok(performance.now() - startedAt > 1_000);
    await waitUntil(() => cancelled.length === 2);
  });

  it("is cancelled at the server when the turn is stopped, although the connection closes right away", async () => {
    const begun = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const { call, client, turn, server } = await openWith([
      {
        name: "hang",
        async call(_, extra) {
          extra.signal.addEventListener("abort", () => cancelled.resolve());
          begun.resolve();
          await cancelled.promise;
          return text("late");
        },
      },
    ]);
    const stop = new AbortController();
    const called = call("hang", { signal: stop.signal });
    await begun.promise;
    stop.abort(new Error("stopped"));
    client.release(turn);
    await assert.rejects(called, /the turn was stopped/);
    await cancelled.promise;
    await waitUntil(() => server.requests.some(({ method }) => method === "DELETE"));
  });

  it("is not disturbed by a changed tool list, by the server's requests, or by unsolicited messages", async () => {
    const { call, list, server } = await openWith([
      {
        name: "noisy",
        async call(_, extra, protocol) {
          await protocol.sendToolListChanged();
          await extra.sendNotification({
            method: "notifications/message",
            params: { level: "error", data: "x".repeat(1_000) },
          });
          const refused = await Promise.allSettled([
            extra.sendRequest({ method: "roots/list" }, ElicitResultSchema),
            extra.sendRequest(
              { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
              ElicitResultSchema,
            ),
          ]);
          return text(refused.map(({ status }) => status).join());
        },
      },
    ]);
    await list();
    assert.deepEqual((await call("noisy")).parts, [{ type: "text", text: "rejected,rejected" }]);
    assert.equal(server.messages("tools/list").length, 1);
    const initialize = server.messages("initialize")[0]?.params?.capabilities;
    assert.deepEqual(Object.keys(initialize as object), ["elicitation"]);
  });

  it("sends few answers at once to a server that asks endlessly", async () => {
    const held = new Set<ServerResponse>();
    let most = 0;
    const server = await bench.startServer({
      tools: [{ name: "ask" }],
      before({ message }, response) {
        if (message && message.method === undefined) {
          held.add(response);
          most = Math.max(most, held.size);
          return true;
        }
        if (message?.method !== "tools/call") return false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        const send = (data: object) =>
          response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...data })}\n\n`);
        for (let id = 0; id < 500; id++) send({ id: `ping-${id}`, method: "ping" });
        // The result is sent when the client no longer answers.
        void waitUntil(() => held.size === 32).then(() => {
          setTimeout(() => {
            send({ id: message.id, result: text("done") });
            response.end();
            for (const each of held) each.writeHead(202).end();
          }, 200);
        });
        return true;
      },
    });
    const { call } = bench.open({ crm: server.url });
    assert.deepEqual((await call("ask")).parts, [{ type: "text", text: "done" }]);
    assert.equal(most, 32);
  });

  it("stops reopening the stream of a server that keeps closing it", async () => {
    let streams = 0;
    const server = await bench.startServer({
      tools: [{ name: "echo" }],
      before({ method, path }, response) {
        if (method !== "GET" || path !== "/mcp") return false;
        streams += 1;
        response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\nid: 1\ndata:\n\n");
        return true;
      },
    });
    const { call } = bench.open({ crm: server.url }, { limits: { streamsMax: 5 } });
    await call("echo");
    await waitUntil(() => streams === 5);
    await sleep(100);
    assert.equal(streams, 5);
  });
});

describe("a server's question to a person", () => {
  const asking = (requestedSchema: object, seen: (result: ElicitResult) => void): ScriptedTool => ({
    name: "ask",
    async call(_, extra) {
      const params = { mode: "form", message: "About the deal", requestedSchema } as never;
      seen(await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema));
      return text("done");
    },
  });
  const form = {
    type: "object",
    properties: {
      name: { type: "string", title: "Name" },
      size: { type: "integer", description: "in pieces" },
      colour: { type: "string", enum: ["red", "blue"] },
      gift: { type: "boolean", default: false },
      note: { type: "string" },
    },
    required: ["name", "size", "colour"],
  };

  it("is shown as one form without unknown keywords, and the server gets the answer", async () => {
    const results: ElicitResult[] = [];
    const answer = { name: "Ada", size: 7, colour: "red" };
    const annotated = { ...form, properties: { ...form.properties, note: { type: "string", "x-hint": 1 } } };
    const { call, questions } = await openWith([asking(annotated, (result) => results.push(result))], {
      mayAskPeople: true,
      answer: () => ({ state: "answered", answer }),
    });
    await call("ask");
    // The answer leaves out the field `gift`, so the SDK adds the default of the field.
    assert.deepEqual(results, [{ action: "accept", content: { ...answer, gift: false } }]);
    assert.deepEqual(questions, [
      { callId: "call_t", question: "The tool server crm asks: About the deal", options: null, form },
    ]);
  });

  it("is a choice between yes and no if its form has no fields", async () => {
    const results: ElicitResult[] = [];
    const answers = ["yes", "no", "well"];
    const empty = { type: "object", properties: {} };
    const { call, questions } = await openWith([asking(empty, (result) => results.push(result))], {
      mayAskPeople: true,
      answer: () => ({ state: "answered", answer: answers.shift() ?? "" }),
    });
    for (let nth = 0; nth < 3; nth++) await call("ask");
    assert.deepEqual(results, [
      { action: "accept", content: {} },
      { action: "decline" },
      { action: "decline" },
    ]);
    assert.deepEqual(questions[0]?.options, ["yes", "no"]);
  });

  it("stops the clock of the call", async () => {
    const results: ElicitResult[] = [];
    const { call } = await openWith([asking(form, (result) => results.push(result))], {
      mayAskPeople: true,
      limits: { callIdleMs: 600, callMs: 900 },
      answer: async () => {
        await sleep(1_200);
        return { state: "declined" };
      },
    });
    assert.equal((await call("ask")).parts.length, 1);
    assert.deepEqual(results, [{ action: "decline" }]);
  });

  it("is one form at a time, up to a limit per call", async () => {
    const one = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const results: string[] = [];
    const { call, questions } = await openWith(
      [
        {
          name: "flood",
          async call(_, extra) {
            const params = { mode: "form", message: "again", requestedSchema: one } as never;
            const ask = () => extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
            for (const { action } of await Promise.all([ask(), ask()])) results.push(action);
            for (let nth = 0; nth < 30; nth++) results.push((await ask()).action);
            return text("done");
          },
        },
      ],
      {
        mayAskPeople: true,
        answer: async () => {
          if (results.length === 0) await sleep(50);
          return { state: "answered", answer: { a: "yes" } };
        },
      },
    );
    await call("flood");
    assert.deepEqual(results.slice(0, 2).toSorted(), ["accept", "decline"]);
    assert.equal(questions.length, 24);
    assert.equal(results.at(-1), "decline");
  });

  it("is declined at once if no person is present, or if it is not a form", async () => {
    const results: ElicitResult[] = [];
    const alone = await openWith([asking(form, (result) => results.push(result))]);
    await alone.call("ask");
    const strange = await openWith(
      [asking({ type: "object", properties: { a: { type: "object" } } }, (result) => results.push(result))],
      {
        mayAskPeople: true,
      },
    );
    // The SDK may reject this schema, because it is not a form. The server then gets an error instead of `decline`.
    await strange.call("ask").catch(() => {});
    assert.deepEqual([...alone.questions, ...strange.questions], []);
    assert.deepEqual(results[0], { action: "decline" });
    assert.ok(results.every(({ action }) => action === "decline"));
  });
});
