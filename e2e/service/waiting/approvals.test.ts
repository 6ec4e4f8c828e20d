import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { inboxItems } from "#db/schema/index.ts";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { armFaults } from "#lib/faults/fault-point.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { readAgents, scriptByTask, spawn, submit, wait } from "../agents/agents-testing.ts";
import { callTool, type McpService, openMcpService, readText } from "../mcp-server/builtin-mcp-testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import { listItems, onlyItem, settle, untilTurnParked } from "./inbox-testing.ts";
import { ask, sayAsPerson } from "./waiting-testing.ts";

const certificate = makeCertificate();
let mcp: McpService;
let service: TestService;
let server: ToolServer;
const received: unknown[] = [];

before(async () => {
  trustCertificate(certificate);
  const call = (input: Record<string, unknown>) => {
    received.push(input);
    return { content: [{ type: "text" as const, text: `did ${JSON.stringify(input)}` }] };
  };
  server = await startToolServer({
    certificate,
    tools: [
      { name: "wipe", call },
      { name: "look", annotations: { destructiveHint: false }, call },
    ],
  });
  mcp = await openMcpService({ SANDBOX: "unconfined" });
  service = mcp.service;
});
after(async () => {
  await mcp.close();
  await server.close();
});
afterEach(() => armFaults(undefined));

const call = (name: string, input: Record<string, unknown>): Step => ({
  toolCalls: [{ name, arguments: input }],
});
const write = (content: string, path = "a.txt") => call("write_file", { path, content });
const wipe = (input: Record<string, unknown>) => call("mcp_crm__wipe", input);

/** Creates a session whose calls of the tools in `approve` need approval. Its turns may ask by default. */
const create = (text: string, approve: string[], more: Record<string, unknown> = {}) =>
  service.create(text, {
    capabilities: { browser: false },
    interaction: { mode: "ask" },
    tools: { approve },
    ...more,
  });

const withServer = () => ({ mcpServers: { crm: { url: server.url } } });

const untilOpen = async (session: { sessionId: string }) => {
  await waitUntil(
    async () => (await listItems(service, session, "?state=open")).length === 1,
    "a call waits",
    30_000,
  );
  return onlyItem(service, session, "?state=open");
};

const resultsOf = async ({ sessionId }: { sessionId: string }) =>
  only(await readEvents(service, sessionId), "tool.result");

describe("a call that needs approval", () => {
  it("is recorded with its exact arguments, parks the turn, and runs once with them when it is approved", async () => {
    const input = { z: 'Ünï "quoted"\n\u0001 🙂', a: [1.5, null, { deep: { b: false, a: "" } }], n: 1e21 };
    scriptByTask(service, { "wipe with care": [wipe(input)] });
    const session = await create("wipe with care", ["mcp_crm__*"], withServer());
    const item = await untilOpen(session);
    assert.deepEqual([item.kind, item.title], ["approval", "Approve mcp_crm__wipe"]);
    assert.equal(JSON.stringify(item.call?.input), JSON.stringify(input), "byte for byte, in order");
    assert.equal(item.call?.toolName, "mcp_crm__wipe");
    await untilTurnParked(service, session);
    const status = await readStatus(service, session.sessionId);
    assert.deepEqual([status.waitingOn?.kind, status.waitingOn?.ids], ["person", [item.id]]);
    assert.equal(received.length, 0, "it has not run");

    const settled = await settle(service, session, item.id, { approve: true });
    assert.deepEqual(
      [settled.status, settled.item?.state, settled.item?.settledBy],
      [200, "approved", "program"],
    );
    await service.completed(session.statusUrl);
    assert.deepEqual(
      received.map((each) => JSON.stringify(each)),
      [JSON.stringify(input)],
    );
    const [result] = await resultsOf(session);
    assert.deepEqual([result?.state, result?.refusal], ["succeeded", undefined]);
    const again = await settle(service, session, item.id, { deny: true });
    assert.deepEqual([again.status, again.state], [409, "approved"]);
    received.length = 0;
  });

  it("is not run when it is denied, and the agent reads the reason", async () => {
    scriptByTask(service, { "write denied": [write("secret", "denied.txt"), call("list_files", {})] });
    const session = await create("write denied", ["write_file"]);
    const item = await untilOpen(session);
    const settled = await settle(service, session, item.id, { deny: true, reason: "Not on a Friday" });
    assert.equal(settled.item?.state, "denied");
    await service.completed(session.statusUrl);
    const [denied, files] = await resultsOf(session);
    assert.equal(
      denied?.preview,
      "write_file was not run: a person denied the call, with the reason: Not on a Friday. Do not call it again with the same arguments.",
    );
    assert.deepEqual([denied?.state, denied?.refusal], ["failed", "not_approved"]);
    assert.doesNotMatch(files?.preview ?? "", /denied\.txt/);
  });

  it("is denied at once in a turn that may not ask", async () => {
    scriptByTask(service, { "write unasked": [write("x")] });
    const session = await create("write unasked", ["write_*"], { interaction: { mode: "decline" } });
    await service.completed(session.statusUrl);
    const [result] = await resultsOf(session);
    assert.equal(
      result?.preview,
      "write_file was not run: it needs a person's approval, and no person can be asked in this turn. Do not call it again: continue without it, and say in your reply what is left to do.",
    );
    assert.equal(result?.refusal, "not_approved");
    assert.deepEqual(await listItems(service, session), []);
  });

  it("waits in a person's turn without interaction, and for a day", async () => {
    scriptByTask(service, { "write in person": [write("x")] });
    const session = await create("say done", ["write_file"], { interaction: undefined });
    await service.completed(session.statusUrl);
    const turn = await sayAsPerson(service, session, { text: "write in person" });
    const item = await untilOpen(session);
    const openMs = Date.parse(item.expiresAt ?? "") - Date.parse(item.createdAt);
    assert.equal(Math.round(openMs / 1_000), 86_400);
    await settle(service, session, item.id, { approve: true });
    await service.completed(turn.statusUrl);
    assert.equal((await resultsOf(session))[0]?.state, "succeeded");
  });

  it("is asked once per tool with forSession, also in sub-agents", async () => {
    scriptByTask(service, {
      "write three times": [
        write("1"),
        write("2"),
        { toolCalls: [spawn({ name: "writer", objective: "write as a child", browser: "none" })] },
        { toolCalls: [wait()] },
      ],
      "write as a child": [write("3"), { toolCalls: [submit("written")] }],
    });
    const session = await create("write three times", ["write_file"], { subAgents: true });
    const item = await untilOpen(session);
    await settle(service, session, item.id, { approve: true, forSession: true });
    await service.completed(session.statusUrl);
    assert.equal((await listItems(service, session)).length, 1);
    const states = (await resultsOf(session)).filter(({ toolName }) => toolName === "write_file");
    assert.deepEqual(
      states.map(({ state }) => state),
      ["succeeded", "succeeded"],
    );
    const [agent] = await readAgents(service, session.sessionId);
    assert.equal((await resultsOf(agent ?? assert.fail()))[0]?.state, "succeeded");
  });

  it("is asked again for the next call with `forSession: false`", async () => {
    scriptByTask(service, { "write twice, asked twice": [write("1"), write("2")] });
    const session = await create("write twice, asked twice", ["write_file"]);
    const first = await untilOpen(session);
    const settled = await settle(service, session, first.id, { approve: true, forSession: false });
    assert.equal(settled.status, 200);
    await waitUntil(async () => (await listItems(service, session)).length === 2, "the second call is asked");
    await settle(service, session, (await untilOpen(session)).id, { deny: true });
    await service.completed(session.statusUrl);
  });

  it("cannot be asked for by an entry that matches no tool", async () => {
    for (const [entry, problem] of [
      ["@destructve", "must be @destructive, or a name that does not begin with @"],
      ["@Destructive", "must be @destructive, or a name that does not begin with @"],
      ["write_*_file", "may have a * only at its end"],
    ] as const) {
      const body = {
        messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }],
        tools: { approve: [entry] },
      };
      const response = await service.call("POST", "/api/session", body);
      const { error } = (await response.json()) as { error: string };
      assert.deepEqual([response.status, error], [400, `tools.approve[0]: ${problem}`]);
    }
  });

  it("is decided by its own item, also if another call of the tool was approved for the session meanwhile", async () => {
    const child = (name: string) => spawn({ name, objective: `write as ${name}`, browser: "none" });
    scriptByTask(service, {
      "write in two agents": [{ toolCalls: [child("one"), child("two")] }, { toolCalls: [wait()] }],
      "write as one": [write("1"), { toolCalls: [submit("written")] }],
      "write as two": [write("2"), { toolCalls: [submit("not written")] }],
    });
    const session = await create("write in two agents", ["write_file"], { subAgents: true });
    await waitUntil(async () => (await listItems(service, session)).length === 2, "both agents wait");
    const items = await listItems(service, session);
    const itemOf = (name: string) =>
      items.find(({ title }) => title.startsWith(`${name}: `))?.id ?? assert.fail();
    await settle(service, session, itemOf("one"), { approve: true, forSession: true });
    const denied = await settle(service, session, itemOf("two"), { deny: true });
    assert.equal(denied.status, 200);
    await service.completed(session.statusUrl);
    const agents = await readAgents(service, session.sessionId);
    const results = await Promise.all(
      agents.map(async (agent) => [agent.name, (await resultsOf(agent))[0]?.state]),
    );
    assert.deepEqual(Object.fromEntries(results), { one: "succeeded", two: "failed" });
  });

  it("is asked for one call of a message after the other, also if the calls only read", async () => {
    const look = (at: number) => ({ name: "mcp_crm__look", arguments: { at } });
    scriptByTask(service, { "look twice": [{ toolCalls: [look(1), look(2)] }] });
    const session = await create("look twice", ["mcp_crm__look"], withServer());
    const first = await untilOpen(session);
    await untilTurnParked(service, session);
    assert.equal((await listItems(service, session)).length, 1);
    await settle(service, session, first.id, { deny: true });
    await waitUntil(async () => (await listItems(service, session)).length === 2, "the second call is asked");
    assert.deepEqual(received, []);
    await settle(service, session, (await untilOpen(session)).id, { approve: true });
    await service.completed(session.statusUrl);
    assert.deepEqual(received, [{ at: 2 }]);
    received.length = 0;
  });

  it("with @destructive is one of a caller's tool that is not declared harmless", async () => {
    scriptByTask(service, {
      "look and wipe": [call("mcp_crm__look", { at: 1 }), write("free"), wipe({ at: 2 })],
    });
    const session = await create("look and wipe", ["@destructive"], withServer());
    const item = await untilOpen(session);
    assert.equal(item.call?.toolName, "mcp_crm__wipe");
    assert.equal((await resultsOf(session)).length, 2, "the other calls have run");
    await settle(service, session, item.id, { deny: true });
    await service.completed(session.statusUrl);
    assert.deepEqual(received, [{ at: 1 }]);
    received.length = 0;
  });

  it("does not exist for a tool that is excluded, nor for tools outside the policy", async () => {
    scriptByTask(service, {
      "write excluded": [write("x"), call("update_plan", { items: [{ text: "One", status: "todo" }] })],
    });
    const tools = { approve: ["*"], exclude: ["write_file"] };
    const session = await create("write excluded", [], { tools });
    await service.completed(session.statusUrl);
    const [excluded, planned] = await resultsOf(session);
    assert.match(excluded?.preview ?? "", /^There is no tool "write_file"/);
    assert.equal(planned?.state, "succeeded");
    assert.deepEqual(await listItems(service, session), []);
  });

  it("is expired after its deadline, and fails the run with onTimeout fail", async () => {
    for (const [onTimeout, outcome] of [
      ["continue", "succeeded"],
      ["fail", "errored"],
    ] as const) {
      scriptByTask(service, { "write too late": [write("x")] });
      const interaction = { mode: "ask", timeoutSeconds: 10, onTimeout };
      const session = await create("write too late", ["write_file"], { interaction });
      const item = await untilOpen(session);
      await untilTurnParked(service, session);
      await endOverdueWaits(service.container.services, new Date(Date.now() + 60_000));
      await service.completed(session.statusUrl);
      assert.match((await resultsOf(session))[0]?.preview ?? "", /no person approved the call in time/);
      const [end] = only(await readEvents(service, session.sessionId), "run.completed");
      assert.equal(end?.outcome, outcome);
      const late = await settle(service, session, item.id, { approve: true });
      assert.deepEqual([late.status, late.state], [409, "expired"]);
    }
  });

  it("is withdrawn by a message and by a stop, and does not run", async () => {
    for (const mode of ["steer", "stop"] as const) {
      scriptByTask(service, { "write withdrawn": [write("x")] });
      const session = await create("write withdrawn", ["write_file"]);
      const item = await untilOpen(session);
      service.model.respondWith(() => ({ text: "Done." }));
      if (mode === "stop") await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`, {});
      else
        await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, { text: "no", mode });
      await service.completed(session.statusUrl);
      const late = await settle(service, session, item.id, { approve: true });
      assert.deepEqual([late.status, late.state], [409, "withdrawn"]);
      assert.notEqual((await resultsOf(session))[0]?.state, "succeeded");
    }
  });

  it("stays expired if a stop comes after its deadline and before the search for overdue waits, as a question does", async () => {
    const steps: [string, Step][] = [
      ["write expired", write("x")],
      ["ask expired", { toolCalls: [ask("Which?")] }],
    ];
    for (const [text, step] of steps) {
      scriptByTask(service, { [text]: [step] });
      const session = await create(text, ["write_file"]);
      const { id } = await untilOpen(session);
      await untilTurnParked(service, session);
      const { db } = service.container.services;
      await db
        .update(inboxItems)
        .set({ expiresAt: new Date(Date.now() - 1_000) })
        .where(eq(inboxItems.id, id));
      assert.equal((await onlyItem(service, session)).state, "expired");
      await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`, {});
      assert.equal((await onlyItem(service, session)).state, "expired");
      await service.completed(session.statusUrl);
      assert.equal((await onlyItem(service, session)).state, "expired");
      assert.equal((await listItems(service, session, "?state=withdrawn")).length, 0);
    }
  });

  it("has a preview of long arguments in lists, and all of them alone", async () => {
    const content = `${'"Ünï\n🙂'.repeat(3_000)}`;
    scriptByTask(service, { "write much": [write(content)], "write little": [write("x")] });
    const session = await create("write much", ["write_file"]);
    const listed = await untilOpen(session);
    const whole = JSON.stringify({ path: "a.txt", content });
    const call = listed.call as { input?: unknown; inputPreview?: string } | undefined;
    assert.equal(call?.input, undefined);
    assert.ok((call?.inputPreview?.length ?? 0) >= 1_000 && call?.inputPreview?.includes("a.txt"));
    const { data } = await service.read<{ data: (typeof listed)[] }>(
      `/api/inbox?sessionId=${session.sessionId}`,
    );
    assert.deepEqual(data[0]?.call, listed.call);
    const path = `/api/sessions/${session.sessionId}/inbox/${listed.id}`;
    const { item } = await service.read<{ item: typeof listed }>(path);
    assert.deepEqual(item.call?.input, JSON.parse(whole));
    assert.equal(item.answerUrl, listed.answerUrl);
    const cookie = `share=${new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key")}`;
    const page = await service.call("GET", `/s/${session.sessionId}/actions/inbox`, undefined, {
      authorization: "",
      cookie,
    });
    assert.deepEqual((await page.json()).data[0].call.input, JSON.parse(whole), "the page shows all of it");
    assert.equal((await service.call("GET", `${path}x`)).status, 404);
    assert.equal((await settle(service, session, listed.id, { deny: true })).status, 200);
    const short = await untilOpen(await create("write little", ["write_file"]));
    assert.deepEqual(short.call?.input, { path: "a.txt", content: "x" });
  });

  it("takes approve or deny, and a question takes neither", async () => {
    scriptByTask(service, { "write or ask": [write("x"), { toolCalls: [ask("Which?")] }] });
    const session = await create("write or ask", ["write_file"]);
    const item = await untilOpen(session);
    const wrong = await settle(service, session, item.id, { answer: "yes" });
    assert.deepEqual([wrong.status, wrong.error], [400, "answer: this item takes approve or deny"]);
    await settle(service, session, item.id, { approve: true });
    await waitUntil(async () => (await listItems(service, session)).length === 2, "the question is asked");
    const question = await untilOpen(session);
    const odd = await settle(service, session, question.id, { approve: true });
    assert.deepEqual([odd.status, odd.error], [400, "approve: this item takes answer or decline"]);
    await settle(service, session, question.id, { answer: "this" });
    await service.completed(session.statusUrl);
  });

  it("that may be repeated is not repeated either after its executor failed", async () => {
    scriptByTask(service, { "write and crash": [write("once", "crash.txt")] });
    const session = await create("write and crash", ["write_file"]);
    const item = await untilOpen(session);
    armFaults({ point: "tool-ended", nth: 1, action: "throw", afterMs: 0 });
    await settle(service, session, item.id, { approve: true });
    await service.completed(session.statusUrl, 60_000);
    assert.equal((await resultsOf(session))[0]?.state, "unknown");
  });

  it("for the session is not repeated after its executor failed", async () => {
    scriptByTask(service, { "wipe for the session": [wipe({ once: true })] });
    const session = await create("wipe for the session", ["mcp_crm__wipe"], withServer());
    const item = await untilOpen(session);
    armFaults({ point: "tool-ended", nth: 1, action: "throw", afterMs: 0 });
    await settle(service, session, item.id, { approve: true, forSession: true });
    await service.completed(session.statusUrl, 60_000);
    assert.deepEqual(received, [{ once: true }]);
    assert.equal((await resultsOf(session))[0]?.state, "unknown");
    received.length = 0;
  });

  it("runs once when six people approve at once, and is unknown after its executor failed", async () => {
    scriptByTask(service, { "wipe and crash": [wipe({ once: true })] });
    const session = await create("wipe and crash", ["mcp_crm__wipe"], withServer());
    const item = await untilOpen(session);
    armFaults({ point: "tool-ended", nth: 1, action: "throw", afterMs: 0 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => settle(service, session, item.id, { approve: true })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    await service.completed(session.statusUrl, 60_000);
    assert.deepEqual(received, [{ once: true }]);
    assert.equal((await resultsOf(session))[0]?.state, "unknown");
    received.length = 0;
  });

  it("over MCP is refused at once", async () => {
    scriptByTask(service, {});
    const session = await create("say done", ["write_file"]);
    await service.completed(session.statusUrl);
    const client = await mcp.connect(await mcp.requestToken(session.sessionId));
    const result = await callTool(client, "write_file", { path: "a.txt", content: "x" });
    assert.match(readText(result), /^write_file was not run: it needs a person's approval/);
    const [recorded] = await resultsOf(session);
    assert.deepEqual([recorded?.state, recorded?.refusal], ["failed", "not_approved"]);
  });

  it("waits over a restart of the service, and then runs with the same arguments", async () => {
    const first = await openTestService({ SANDBOX: "unconfined" });
    const script = (on: TestService) =>
      on.model.respondWith(({ answersSoFar }) =>
        answersSoFar === 0
          ? write("kept", "kept.txt")
          : answersSoFar === 1
            ? call("list_files", {})
            : { text: "Done." },
      );
    script(first);
    const session = await first.create("write over a restart", {
      capabilities: { browser: false },
      interaction: { mode: "ask" },
      tools: { approve: ["write_file"] },
    });
    await untilTurnParked(first, session);
    const item = await onlyItem(first, session);
    await first.close({ keepFiles: true });
    const second = await openTestService({ SANDBOX: "unconfined" }, first.dataDir);
    script(second);
    assert.deepEqual(await onlyItem(second, session), item);
    assert.equal((await settle(second, session, item.id, { approve: true })).status, 200);
    await second.completed(session.statusUrl);
    const results = only(await readEvents(second, session.sessionId), "tool.result");
    assert.deepEqual(
      results.map(({ state }) => state),
      ["succeeded", "succeeded"],
    );
    assert.match(results[1]?.preview ?? "", /kept\.txt/);
    await second.close();
  });

  it("is named by at most 128 entries that are not empty", async () => {
    const messages = [{ role: "user", parts: [{ type: "text", text: "go" }] }];
    for (const [approve, error] of [
      [Array(129).fill("a"), "tools.approve: must hold at most 128 names"],
      [[""], "tools.approve[0]: must not be empty"],
      ["write_file", "tools.approve: must be an array"],
    ]) {
      const response = await service.call("POST", "/api/session", { messages, tools: { approve } });
      assert.deepEqual([response.status, ((await response.json()) as { error: string }).error], [400, error]);
    }
  });
});
