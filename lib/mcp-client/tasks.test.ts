import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type CallToolResult, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { ScriptedTool } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { openMcpBench } from "./testing.ts";

const bench = openMcpBench();
after(() => bench.close());

const execution = { taskSupport: "required" as const };
const done = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

async function openWith(tools: ScriptedTool[], options: Parameters<typeof bench.open>[1] = {}) {
  const server = await bench.startServer({ tools, hasTasks: true });
  return { server, ...bench.open({ crm: server.url }, options) };
}

describe("a tool that has to be called as a task", () => {
  it("is listed as one, and its call gets the result of the task", async () => {
    const { server, list, call } = await openWith([
      { name: "build", execution, call: ({ what }) => done(`built ${what}`) },
      { name: "maybe", execution: { taskSupport: "optional" } },
    ]);
    const { tools } = await list();
    assert.deepEqual(
      tools.map(({ tool, isTask }) => [tool, isTask]),
      [
        ["build", true],
        ["maybe", undefined],
      ],
    );
    assert.deepEqual(await call("build", { remote: { isTask: true }, input: { what: "a shop" } }), {
      isError: false,
      parts: [{ type: "text", text: "built a shop" }],
    });
    const [sent] = server.messages("tools/call");
    assert.deepEqual(Object.keys(sent?.params ?? {}).toSorted(), ["_meta", "arguments", "name", "task"]);
    assert.equal(server.messages("tasks/result").length, 1);
    assert.equal((await call("maybe")).parts.length, 1);
    assert.equal(server.messages("tools/call")[1]?.params?.task, undefined);
  });

  it("is looked at until it ends, and is not silent meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<CallToolResult>();
    let looks = 0;
    const server = await bench.startServer({
      hasTasks: true,
      tools: [{ name: "build", execution, call: () => promise }],
      before({ message }) {
        if (message?.method === "tasks/get" && ++looks === 3) resolve(done("built"));
        return false;
      },
    });
    const { call } = bench.open({ crm: server.url }, { limits: { callIdleMs: 2_000 } });
    assert.deepEqual((await call("build", { remote: { isTask: true } })).parts, [
      { type: "text", text: "built" },
    ]);
    assert.ok(looks >= 3);
  });

  it("can fail, and can be cancelled by its server", async () => {
    const { server, call } = await openWith([
      { name: "fail", execution, call: () => ({ ...done("no room"), isError: true }) },
    ]);
    assert.deepEqual(await call("fail", { remote: { isTask: true } }), {
      isError: true,
      parts: [{ type: "text", text: "no room" }],
    });
    await server.close();
    const cancelling = await bench.startServer({
      hasTasks: true,
      tools: [{ name: "build", execution, call: () => new Promise(() => {}) }],
      before({ message }, response) {
        if (message?.method !== "tasks/get") return false;
        const { taskId } = message.params ?? {};
        const at = new Date().toISOString();
        const task = { taskId, status: "cancelled", ttl: null, createdAt: at, lastUpdatedAt: at };
        const result = { ...task, pollInterval: null, statusMessage: null };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        return true;
      },
    });
    assert.deepEqual(await bench.open({ crm: cancelling.url }).call("build", { remote: { isTask: true } }), {
      isError: true,
      parts: [{ type: "note", text: "The tool server cancelled the task." }],
    });
  });

  it("can ask a person", async () => {
    const params = {
      message: "Which one?",
      requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } } },
    };
    const { call, questions } = await openWith(
      [
        {
          name: "build",
          execution,
          async call(_, extra) {
            const request = { method: "elicitation/create" as const, params };
            const { content } = await extra.sendRequest(request, ElicitResultSchema);
            return done(`built ${content?.name}`);
          },
        },
      ],
      { mayAskPeople: true, answer: () => ({ state: "answered", answer: { name: "a shop" } }) },
    );
    assert.deepEqual((await call("build", { remote: { isTask: true } })).parts, [
      { type: "text", text: "built a shop" },
    ]);
    assert.match(questions[0]?.question ?? "", /Which one\?/);
  });

  it("is cancelled if the turn stops", async () => {
    const stop = new AbortController();
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const server = await bench.startServer({
      hasTasks: true,
      tools: [{ name: "build", execution, call: () => new Promise(() => {}) }],
      before({ message }) {
        if (message?.method === "tasks/get") stop.abort();
        if (message?.method === "tasks/cancel") resolve();
        return false;
      },
    });
    const calling = bench
      .open({ crm: server.url })
      .call("build", { remote: { isTask: true }, signal: stop.signal });
    await assert.rejects(calling, { message: "the turn was stopped" });
    await cancelled;
  });

  it("is not called twice if the server loses the session of its task", async () => {
    const { server, call } = await (async () => {
      const opened = await bench.startServer({
        hasTasks: true,
        tools: [{ name: "build", execution, call: () => new Promise(() => {}) }],
        before({ message }) {
          if (message?.method === "tasks/get") opened.forgetSessions(400);
          return false;
        },
      });
      return { server: opened, ...bench.open({ crm: opened.url }) };
    })();
    await assert.rejects(call("build", { remote: { isTask: true } }), {
      message: "the server answered with status 400",
    });
    assert.equal(server.messages("tools/call").length, 1);
  });

  it("is skipped, with a reason, if its server does not run tool calls as tasks", async () => {
    const server = await bench.startServer({ tools: [{ name: "build", execution }, { name: "read" }] });
    const { tools, skipped } = await bench.open({ crm: server.url }).list();
    assert.deepEqual(
      tools.map(({ tool }) => tool),
      ["read"],
    );
    assert.deepEqual(skipped, [
      {
        serverId: "crm",
        reason: "it has to be called as a task, and its server does not offer to run tool calls as tasks",
        tools: ["build"],
        toolCount: 1,
      },
    ]);
  });
});
