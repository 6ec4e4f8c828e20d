import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { registerHooks } from "node:module";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { callTool, type McpService, openMcpService } from "../mcp-server/builtin-mcp-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { sayAsPerson } from "../waiting/waiting-testing.ts";
import { readAgents, readOffered, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";
import { CHILD_TOOLS, DELEGATION_TOOLS, delegating, namesIn, requestsOfAgent } from "./tree-testing.ts";

// Adds the file extension to an import of a Next module, because Node needs the extension and the bundler does not.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "next/navigation" ? "next/navigation.js" : specifier, context),
});

const ALL = [...DELEGATION_TOOLS, ...CHILD_TOOLS];
const among = (names: string[]) => ALL.filter((name) => names.includes(name));

const flag = { asked: [] as string[], enabled: new Set<string>() };
const flagServer = createServer((request, response) => {
  const userId = new URL(request.url ?? "/", "http://flag").searchParams.get("userId") ?? "";
  flag.asked.push(userId);
  if (userId === "broken") return void response.destroy();
  if (userId === "failing") return void response.writeHead(500).end(`{"enabled":true}`);
  if (userId === "odd") return void response.end(`{"enabled":"yes"}`);
  response.end(JSON.stringify({ enabled: flag.enabled.has(userId) }));
});

let mcp: McpService;
let service: TestService;
before(async () => {
  flagServer.listen(0, "127.0.0.1");
  await once(flagServer, "listening");
  const { port } = flagServer.address() as AddressInfo;
  mcp = await openMcpService({ SUBAGENT_WEB_FLAG_URL: `http://127.0.0.1:${port}/flag` });
  service = mcp.service;
});
after(async () => {
  await mcp.close();
  flagServer.closeAllConnections();
  flagServer.close();
});

/** Plays a turn in a new session. @returns the session, and the delegation tools that the model was offered. */
async function offer(target: TestService, marker: string, profile: Record<string, unknown>) {
  scriptByTask(target, {});
  const session = await target.create(marker, profile);
  await target.completed(session.statusUrl);
  return { session, offered: among(readOffered(target, marker)) };
}

const structured = {
  outputSchema: { type: "object", properties: { a: { type: "string" } } },
  tools: { include: ALL },
};

describe("a session without the permission to delegate", () => {
  const profiles: [string, Record<string, unknown>][] = [
    ["subAgents is absent", {}],
    ["subAgents is false", { subAgents: false }],
    ["source is web, without a userId", { subAgents: true, source: "web" }],
    ["source is web, and the flag is off for the user", { subAgents: true, source: "web", userId: "nobody" }],
    [
      "source is web, and the flag breaks the connection off",
      { subAgents: true, source: "web", userId: "broken" },
    ],
    ["source is web, and the flag answers 500", { subAgents: true, source: "web", userId: "failing" }],
    ["source is web, and the flag's answer is no boolean", { subAgents: true, source: "web", userId: "odd" }],
    ["source is web with the flag on, but subAgents is absent", { source: "web", userId: "invited" }],
  ];
  for (const [name, profile] of profiles)
    it(`has no delegation tool, even if tools.include names it: ${name}`, async () => {
      flag.enabled.add("invited");
      const { capabilities } = delegating;
      const plain = await offer(service, `${name}, plain`, {
        capabilities,
        ...profile,
        tools: { include: ALL },
      });
      assert.deepEqual(plain.offered, []);
      scriptByTask(service, {});
      const session = await service.create(`${name}, structured`, {
        capabilities,
        ...profile,
        ...structured,
      });
      await service.completed(session.statusUrl);
      const turns = service.model.requests.filter(
        ({ kind, userText }) => kind === "turn" && userText.includes(`${name}, structured`),
      );
      assert.ok(turns.length > 0);
      assert.deepEqual(
        turns.flatMap((turn) => among(namesIn(turn))),
        [],
      );
    });

  it("cannot spawn by calling a tool that it was not offered", async () => {
    scriptByTask(service, { "lead forbidden": [{ toolCalls: [spawn({ objective: "exist" })] }] });
    const session = await service.create("lead forbidden", { capabilities: delegating.capabilities });
    await service.completed(session.statusUrl);
    assert.match(readResult(service, "lead forbidden", 0), /spawn_agents/);
    assert.deepEqual(await readAgents(service, session.sessionId), []);
  });

  it("is also one with source web if the deployment has no flag or cannot reach it", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const gone = createServer().listen(0, "127.0.0.1");
    await once(gone, "listening");
    const { port } = gone.address() as AddressInfo;
    gone.close(() => resolve());
    await closed;
    for (const variables of [{}, { SUBAGENT_WEB_FLAG_URL: `http://127.0.0.1:${port}/flag` }]) {
      const other = await openTestService(variables as Record<string, string>);
      try {
        const profile = { ...delegating, source: "web", userId: "invited" };
        assert.deepEqual((await offer(other, "lead web", profile)).offered, []);
        const api = { ...profile, source: "api" };
        assert.deepEqual((await offer(other, "lead api", api)).offered, DELEGATION_TOOLS);
      } finally {
        await other.close();
      }
    }
  });
});

describe("a session with source web whose flag is on", () => {
  it("may delegate in all its turns: the flag is read once, with the user's id", async () => {
    flag.enabled.add("lasting");
    flag.asked.length = 0;
    scriptByTask(service, {
      "lead flagged": [
        { toolCalls: [spawn({ name: "flagged", objective: "work for the web" })] },
        { toolCalls: [wait()] },
      ],
      "work for the web": [{ toolCalls: [submit("ok")] }],
    });
    const session = await service.create("lead flagged", { ...delegating, source: "web", userId: "lasting" });
    await service.completed(session.statusUrl);
    assert.deepEqual(among(readOffered(service, "lead flagged")), DELEGATION_TOOLS);
    assert.deepEqual(
      requestsOfAgent(service, "flagged").map((each) => among(namesIn(each))),
      [ALL],
    );
    flag.enabled.delete("lasting");
    const turn = await sayAsPerson(service, session, { text: "lead later" });
    await service.completed(turn.statusUrl);
    assert.deepEqual(among(readOffered(service, "lead later")), DELEGATION_TOOLS);
    assert.deepEqual(flag.asked, ["lasting"]);
  });
});

describe("a holder of an MCP token", () => {
  it("is not offered the delegation tools, and cannot call them", async () => {
    scriptByTask(service, {
      "lead token": [
        { toolCalls: [spawn({ name: "tokened", objective: "work beside" })] },
        { toolCalls: [wait()] },
      ],
      "work beside": [{ toolCalls: [submit("ok")] }],
    });
    const session = await service.create("lead token", { subAgents: true, tools: { include: ALL } });
    await service.completed(session.statusUrl);
    const client = await mcp.connect(await mcp.requestToken(session.sessionId));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes("read_file"));
    assert.deepEqual(among(names), []);
    for (const name of ALL)
      await assert.rejects(callTool(client, name, {}), new RegExp(`no tool named ${name}`), name);
    const [agent, ...others] = await readAgents(service, session.sessionId);
    assert.deepEqual([agent?.result?.value, others], ["ok", []]);
    const token = await service.call("POST", `/api/sessions/${agent?.sessionId}/mcp-token`);
    assert.equal(token.status, 409, "only its parent controls a sub-agent");
  });
});
