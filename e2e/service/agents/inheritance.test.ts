import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startAuthorizationServer } from "#e2e/fixtures/mcp/start-authorization-server.ts";
import { startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { sayAsPerson } from "../waiting/waiting-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";
import { delegating, dumpDatabase, listTree, namesIn, requestsOfAgent } from "./tree-testing.ts";

const SECRET = "Bearer canary-4b1d9f-of-the-tool-server";

const certificate = makeCertificate();
let service: TestService;
let server: ToolServer;

before(async () => {
  trustCertificate(certificate);
  const call = ({ who }: Record<string, unknown>) => ({
    content: [{ type: "text" as const, text: `found for ${who}` }],
  });
  server = await startToolServer({
    certificate,
    tools: [
      { name: "find", annotations: { readOnlyHint: true }, call },
      { name: "pay", call },
      { name: "drop_all", call },
    ],
  });
  service = await openTestService({ SANDBOX: "none" });
});
after(async () => {
  await service.close();
  await server.close();
});

const find = (who: string, id = "crm") => ({ name: `mcp_${id}__find`, arguments: { who } });

/** Returns the headers with which the tool server received the call of `find` with this `who`. */
const headersOfCall = (who: string) => {
  const request = server.requests.find(
    ({ message }) =>
      message?.method === "tools/call" && (message.params?.arguments as { who?: string })?.who === who,
  );
  assert.ok(request, `the server got no call for ${who}`);
  return request.headers;
};

describe("the MCP servers of a session", () => {
  it("are called by children and grandchildren with the secret header, which appears nowhere else", async () => {
    scriptByTask(service, {
      "lead secrets": [
        { toolCalls: [find("root")] },
        { toolCalls: [spawn({ name: "secret-child", objective: "search as a child" })] },
        { toolCalls: [wait()] },
      ],
      "search as a child": [
        { toolCalls: [find("child")] },
        { toolCalls: [spawn({ name: "secret-grandchild", objective: "search one level deeper" })] },
        { toolCalls: [wait()] },
        { toolCalls: [submit("child is done")] },
      ],
      "search one level deeper": [{ toolCalls: [find("grandchild")] }, { toolCalls: [submit("found")] }],
    });
    const session = await service.create("lead secrets", {
      ...delegating,
      mcpServers: { crm: { url: `${server.url}?key=${SECRET}`, headers: { authorization: SECRET } } },
    });
    await service.completed(session.statusUrl);
    for (const who of ["root", "child", "grandchild"])
      assert.equal(headersOfCall(who).authorization, SECRET, who);
    assert.match(readResult(service, "search one level deeper", 0), /found for grandchild/);

    const tree = await listTree(service, session.sessionId);
    assert.deepEqual(
      tree.map(({ name, status }) => [name, status]),
      [
        ["secret-child", "succeeded"],
        ["secret-grandchild", "succeeded"],
      ],
    );
    const paths = ["", "/agent/status", "/agents", "/messages", "/browser", "/deliveries", "/queue"];
    const family = [{ agentId: session.sessionId, ...session }, ...tree];
    const urls = family.flatMap(({ agentId, statusUrl, streamUrl }) => [
      ...paths.map((path) => `/api/sessions/${agentId}${path}`),
      statusUrl,
      streamUrl,
    ]);
    for (const url of [...urls, "/api/sessions"]) {
      const answer = await service.call("GET", url);
      assert.equal(answer.status, 200, url);
      const text = await answer.text();
      assert.ok(!text.includes("canary-4b1d9f"), url);
    }
    assert.ok(!JSON.stringify(service.model.requests).includes("canary-4b1d9f"), "a request to the model");

    const dump = await dumpDatabase(service);
    for (const name of ["headers", "url"])
      assert.equal(
        dump.match(new RegExp(`^sealed_secrets .*mcpServers\\.crm\\.${name}`, "gm"))?.length,
        3,
        `the ${name} are sealed for each session of the tree`,
      );
    for (const encoding of ["utf8", "base64", "hex"] as const)
      assert.ok(
        !dump.includes(Buffer.from("canary-4b1d9f").toString(encoding)),
        `a database row, ${encoding}`,
      );
  });

  it("are called by children with tokens for the OAuth credentials of the session", async () => {
    const { certificate } = server;
    const client = { clientId: "service", clientSecret: "canary-4b1d9f-of-the-client" };
    const issuer = await startAuthorizationServer({ certificate, ...client });
    const erp = await startToolServer({
      certificate,
      speaks: "stateless",
      tools: [{ name: "find" }],
      before({ headers }, response) {
        if (issuer.accepts(headers)) return false;
        response.writeHead(401, { "www-authenticate": "Bearer" }).end();
        return true;
      },
    });
    scriptByTask(service, {
      "lead tokens": [
        { toolCalls: [spawn({ name: "token-child", objective: "search with a token" })] },
        { toolCalls: [wait()] },
      ],
      "search with a token": [{ toolCalls: [find("child", "erp")] }, { toolCalls: [submit("found")] }],
    });
    const auth = { type: "client_credentials", tokenUrl: issuer.tokenUrl, ...client };
    const session = await service.create("lead tokens", {
      ...delegating,
      mcpServers: { erp: { url: erp.url, auth } },
    });
    await service.completed(session.statusUrl);
    assert.match(readResult(service, "search with a token", 0), /"who":"child"/);
    assert.equal(issuer.requests.length, 2, "the session and its child have a token each");
    const dump = await dumpDatabase(service);
    assert.equal(dump.match(/^sealed_secrets .*mcpServers\.erp\.auth/gm)?.length, 2);
    for (const secret of ["canary-4b1d9f-of-the-client", "token-of-the-authorization-server"])
      assert.ok(!dump.includes(secret), secret);
    await Promise.all([issuer.close(), erp.close()]);
  });

  it("are encrypted separately for each child, so that no two rows of the tree are equal", async () => {
    scriptByTask(service, {
      "lead sealed": [
        { toolCalls: [spawn({ objective: "only submit" }, { objective: "only submit" })] },
        { toolCalls: [wait()] },
      ],
      "only submit": [{ toolCalls: [submit("ok")] }],
    });
    const session = await service.create("lead sealed", {
      ...delegating,
      mcpServers: { crm: { url: server.url, headers: { authorization: SECRET } } },
    });
    await service.completed(session.statusUrl);
    const ids = [
      session.sessionId,
      ...(await listTree(service, session.sessionId)).map((each) => each.agentId),
    ];
    const rows = (await dumpDatabase(service))
      .split("\n")
      .filter((line) => line.startsWith("sealed_secrets") && ids.some((id) => line.includes(id)));
    const sealed = rows.map((row) => row.split(",").at(-1));
    assert.equal(new Set(sealed).size, 3);
  });

  it("include a URL set for the built-in server, which a child calls with a token of its own session", async () => {
    scriptByTask(service, {
      "lead pin": [
        { toolCalls: [find("pinned root", "builtin")] },
        { toolCalls: [spawn({ name: "pinned", objective: "use the pinned server" })] },
        { toolCalls: [wait()] },
      ],
      "use the pinned server": [
        { toolCalls: [find("pinned child", "builtin")] },
        { toolCalls: [submit("found")] },
      ],
    });
    const session = await service.create("lead pin", {
      ...delegating,
      mcpServers: { builtin: { url: server.url } },
    });
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    assert.equal(agent?.result?.value, "found");
    const [own, childs] = ["pinned root", "pinned child"].map((who) => headersOfCall(who).authorization);
    assert.match(childs ?? "", /^Bearer \S+$/);
    assert.notEqual(childs, own);
  });
});

describe("tools.externalTurnExclude", () => {
  const EXCLUDED = ["mcp_crm__pay", "read_message"];
  const offered = (names: string[]) => EXCLUDED.filter((name) => names.includes(name));

  it("applies to every turn of a child although a person started its parent's turn", async () => {
    const message = (agentId: string) => ({
      name: "message_agent",
      arguments: { agentId, text: "now count again" },
    });
    service.model.respondWith(({ userText, answersSoFar, toolResults }) => {
      if (userText.includes("now count again")) return { toolCalls: [submit("second")] };
      if (userText.includes("count without paying"))
        return (
          [
            { toolCalls: [spawn({ name: "free-grandchild", objective: "count one level deeper" })] },
            { toolCalls: [wait()] },
          ][answersSoFar] ?? { toolCalls: [submit("first")] }
        );
      if (userText.includes("count one level deeper")) return { toolCalls: [submit("third")] };
      if (!userText.includes("lead person")) return { text: "Hello." };
      const id = (JSON.parse(toolResults[0] ?? "[]") as { agentId: string }[])[0]?.agentId ?? "";
      return (
        [
          { toolCalls: [spawn({ name: "free-child", objective: "count without paying" })] },
          { toolCalls: [wait()] },
          { toolCalls: [message(id)] },
          { toolCalls: [wait()] },
        ][answersSoFar] ?? { text: "Done." }
      );
    });
    const session = await service.create("a greeting", {
      ...delegating,
      mcpServers: { crm: { url: server.url } },
      tools: { externalTurnExclude: EXCLUDED },
    });
    await service.completed(session.statusUrl);
    const turn = await sayAsPerson(service, session, { text: "lead person" });
    await service.completed(turn.statusUrl);

    const calls = service.model.requests.filter(({ userText }) => /a greeting|lead person/.test(userText));
    assert.deepEqual(
      calls.map((call) => offered(namesIn(call))),
      [[], ...Array(5).fill(EXCLUDED)],
      "absent from the first turn; present in the person's turn, also after its waits",
    );
    const [child, grandchild] = await readAgents(service, session.sessionId);
    const starts = only(await readEvents(service, child?.sessionId ?? ""), "run.started");
    assert.deepEqual(
      starts.map(({ origin }) => origin),
      ["subagent", "subagent"],
    );
    assert.equal(child?.result?.value, "second");
    assert.equal(grandchild?.result?.value, "third");
    for (const [name, count] of [
      ["free-child", 4],
      ["free-grandchild", 1],
    ] as const) {
      const requests = requestsOfAgent(service, name);
      assert.equal(requests.length, count, name);
      for (const request of requests) {
        assert.deepEqual(offered(namesIn(request)), [], name);
        assert.ok(namesIn(request).includes("mcp_crm__find"), "the child has other tools of the server");
      }
    }
  });

  it("refuses a child's call of an excluded tool", async () => {
    scriptByTask(service, {
      "lead payment": [{ toolCalls: [spawn({ objective: "pay nevertheless" })] }, { toolCalls: [wait()] }],
      "pay nevertheless": [
        { toolCalls: [{ name: "mcp_crm__pay", arguments: { who: "nobody" } }] },
        { toolCalls: [submit("tried")] },
      ],
    });
    const session = await service.create("lead payment", {
      ...delegating,
      mcpServers: { crm: { url: server.url } },
      tools: { externalTurnExclude: ["mcp_crm__pay"] },
    });
    await service.completed(session.statusUrl);
    const [agent] = await readAgents(service, session.sessionId);
    const results = only(await readEvents(service, agent?.sessionId ?? ""), "tool.result");
    assert.deepEqual(results[0] && [results[0].toolName, results[0].state], ["mcp_crm__pay", "failed"]);
    assert.ok(
      !server.messages("tools/call").some(({ params }) => JSON.stringify(params).includes("nobody")),
      "the server got no call",
    );
  });
});

describe("the profile of a child", () => {
  it("has the parent's source, user and tools, but not its callback, instructions and metadata", async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    scriptByTask(service, {
      "lead profile": [
        { toolCalls: [spawn({ name: "plain", objective: "be a plain child" })] },
        { toolCalls: [wait()] },
      ],
      "be a plain child": [{ toolCalls: [submit("ok")] }],
    });
    const profile = {
      subAgents: true,
      capabilities: { browser: false, sandbox: true },
      source: "slack",
      userId: "user-7",
      tools: { exclude: ["fetch_url"], externalTurnExclude: ["mcp_crm__pay"] },
      mcpServers: { crm: { url: server.url } },
      delegation: { maxLiveChildren: 3, maxLiveBrowsers: 1 },
    };
    const session = await service.create("lead profile", {
      ...profile,
      systemPrompt: "Answer in French.",
      callback: { url: receiver.url, secret: "of the callback" },
      metadata: { ticket: 1 },
      targetPageUrls: ["https://example.com/other"],
    });
    await service.completed(session.statusUrl);
    const [agent] = await listTree(service, session.sessionId);
    const path = `/api/sessions/${agent?.agentId}`;
    const { session: child } = await service.read<{ session: Record<string, unknown> }>(path);
    const { source, userId, subAgents, capabilities, delegation, tools, mcpServers } = child;
    assert.deepEqual(
      { source, userId, subAgents, capabilities, delegation, tools, mcpServers },
      {
        ...profile,
        tools: { include: [], ...profile.tools },
        mcpServers: { crm: { url: server.url, type: "http" } },
      },
    );
    const { systemPrompt, callback, metadata, targetPageUrls, outputSchema } = child;
    assert.deepEqual(
      { systemPrompt, callback, metadata, targetPageUrls, outputSchema },
      { systemPrompt: null, callback: null, metadata: null, targetPageUrls: [], outputSchema: null },
    );
    const [request] = requestsOfAgent(service, "plain");
    assert.ok(request && !/Session Instructions|French|example\.com/.test(request.text));
    assert.deepEqual((await service.read<{ data: unknown[] }>(`${path}/deliveries`)).data, []);
    await waitUntil(() => receiver.received.length === 2, "the parent's two callbacks arrived");
    for (const { body } of receiver.received)
      assert.equal((JSON.parse(body.toString()) as { sessionId: string }).sessionId, session.sessionId);
  });
});
