import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { eq } from "drizzle-orm";
import { inboxItems } from "#db/schema/index.ts";
import { scriptByTask } from "../agents/agents-testing.ts";
import { OTHER_KEY, TEST_KEY, waitUntil } from "../testing.ts";
import { listItems, onlyItem, settle } from "../waiting/inbox-testing.ts";
import { ask } from "../waiting/waiting-testing.ts";
import { callTool, type McpService, openMcpService, readText } from "./builtin-mcp-testing.ts";
import { callBadly, callWell, createKey, startAndWait } from "./session-tools-testing.ts";

// Calls over MCP that need a person: those of another agent with a session's token, and items that an assistant with an API
// key settles.

let mcp: McpService;
before(async () => {
  mcp = await openMcpService({ SANDBOX: "unconfined" });
  scriptByTask(mcp.service, {});
});
after(() => mcp.close());

/** Creates a session in which `write_file` needs approval. */
async function createSession(more: Record<string, unknown> = { interaction: { mode: "ask" } }) {
  const session = await mcp.service.create("say done", {
    capabilities: { browser: false },
    tools: { approve: ["write_file"] },
    ...more,
  });
  await mcp.service.completed(session.statusUrl);
  return { ...session, token: await mcp.requestToken(session.sessionId) };
}

/** Connects a client of the revisions with `initialize`. */
async function connectOlder(token: string, elicitation?: { form?: object; url?: object }) {
  const client = new Client(
    { name: "older", version: "1" },
    { capabilities: elicitation ? { elicitation: elicitation as Record<string, object> } : {} },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  // The cast is needed because the SDK's own types are incompatible under exactOptionalPropertyTypes.
  await client.connect(new OldTransport(new URL(mcp.url), { requestInit }) as Transport);
  return client;
}

type Asked = { mode?: string; url?: string; message: string };

/** Connects a client of the newest revision whose person opens each page, and then does `act`. */
async function connectNewest(token: string, act: (asked: Asked) => Promise<"accept" | "decline">) {
  const client = new NewClient(
    { name: "newest", version: "1" },
    {
      capabilities: { elicitation: { url: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: await act(params as Asked),
  }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp.url), { requestInit }));
  return client;
}

const WRITE = { name: "write_file", arguments: { path: "a.txt", content: "asked" } };

const readFile = async (sessionId: string) => {
  const { data } = await mcp.service.read<{ data: { path: string }[] }>(`/api/sessions/${sessionId}/files`);
  return data.some(({ path }) => path === "a.txt");
};

/** Calls a tool that needs approval. @returns the pages that the client is asked to open. */
async function askedPages(client: Client) {
  const error = await client.callTool(WRITE).catch((problem: unknown) => problem);
  assert.ok(error instanceof UrlElicitationRequiredError, String(error));
  return error.elicitations;
}

describe("a call of another agent that needs approval", () => {
  it("asks a client of the newest revision to open a page, and runs when a person has approved it", async () => {
    const session = await createSession();
    const asked: Asked[] = [];
    const client = await connectNewest(session.token, async (question) => {
      asked.push(question);
      const item = await onlyItem(mcp.service, session);
      assert.deepEqual([item.kind, item.state, item.runId], ["approval", "open", null]);
      assert.deepEqual(item.call?.input, WRITE.arguments);
      assert.equal(await readFile(session.sessionId), false, "nothing has run");
      assert.equal((await settle(mcp.service, session, item.id, { approve: true })).status, 200);
      return "accept";
    });
    const result = await client.callTool(WRITE);
    assert.notEqual(result.isError, true, JSON.stringify(result));
    assert.equal(await readFile(session.sessionId), true);
    assert.deepEqual([asked.length, asked[0]?.mode], [1, "url"]);
    // The page needs a login: the token's holder must not get a link that settles.
    assert.equal(asked[0]?.url, `${mcp.service.env.baseUrl}/#inbox`);
    await client.close();
  });

  it("asks an older client with the error for pages, once for each time that the call runs", async () => {
    const session = await createSession();
    const client = await connectOlder(session.token, { url: {} });
    const [page, ...others] = await askedPages(client);
    const item = await onlyItem(mcp.service, session);
    assert.deepEqual(
      [page?.mode, page?.elicitationId, page?.url, others],
      ["url", item.id, `${mcp.service.env.baseUrl}/#inbox`, []],
    );
    const repeated = callTool(client, WRITE.name, WRITE.arguments);
    await settle(mcp.service, session, item.id, { approve: true });
    assert.notEqual((await repeated).isError, true);
    await askedPages(client);
    assert.equal((await listItems(mcp.service, session, "?state=open")).length, 1);
    await client.close();
  });

  it("is refused without asking if the client opens no pages, or the session asks no person", async () => {
    const asking = await createSession();
    const silent = await createSession({});
    for (const [token, elicitation] of [
      [asking.token, undefined],
      [asking.token, {}],
      [asking.token, { form: {} }],
      [silent.token, { url: {} }],
    ] as const) {
      const client = await connectOlder(token, elicitation);
      const result = await callTool(client, WRITE.name, WRITE.arguments);
      assert.match(readText(result), /^write_file was not run: it needs a person's approval/);
      await client.close();
    }
    for (const session of [asking, silent]) assert.deepEqual(await listItems(mcp.service, session), []);
    const invalid = await connectOlder(asking.token, { url: {} });
    const refused = await callTool(invalid, WRITE.name, { path: "a.txt" });
    assert.match(readText(refused), /content: is required/);
    assert.deepEqual(await listItems(mcp.service, asking), []);
    await invalid.close();
  });

  it("stays denied, with the reason", async () => {
    const session = await createSession();
    const client = await connectOlder(session.token, { url: {} });
    await askedPages(client);
    const { id } = await onlyItem(mcp.service, session);
    await settle(mcp.service, session, id, { deny: true, reason: "not this file" });
    for (let round = 0; round < 2; round++)
      assert.match(
        readText(await callTool(client, WRITE.name, WRITE.arguments)),
        /a person denied the call, with the reason: not this file/,
      );
    assert.equal(await readFile(session.sessionId), false);
    await client.close();
  });

  it("runs without asking after an approval for the session", async () => {
    const session = await createSession();
    const client = await connectOlder(session.token, { url: {} });
    await askedPages(client);
    const { id } = await onlyItem(mcp.service, session);
    await settle(mcp.service, session, id, { approve: true, forSession: true });
    const other = await callTool(client, WRITE.name, { path: "b.txt", content: "b" });
    assert.notEqual(other.isError, true, readText(other));
    await client.close();
  });

  it("is settled by the owner's key or a person only, once", async () => {
    const session = await createSession();
    const client = await connectOlder(session.token, { url: {} });
    await askedPages(client);
    const { id } = await onlyItem(mcp.service, session);
    const approve = (headers: Record<string, string>) =>
      settle(mcp.service, session, id, { approve: true }, headers);
    const { key: reader } = await createKey(mcp, ["sessions:read"]);
    for (const [key, status] of [
      [session.token, 401],
      [OTHER_KEY, 404],
      [reader, 403],
      ["wrong", 401],
    ] as const)
      assert.equal((await approve({ authorization: `Bearer ${key}` })).status, status, key);
    assert.equal((await onlyItem(mcp.service, session)).state, "open");
    // One over HTTP, one over MCP.
    const assistant = await mcp.connect(TEST_KEY);
    const input = { sessionId: session.sessionId, itemId: id, deny: true };
    const [over, by] = await Promise.all([approve({}), callTool(assistant, "answer", input)]);
    assert.equal([over.status === 200, by.isError !== true].filter(Boolean).length, 1);
    await client.close();
  });

  it("is asked for again after the deadline; a stop of a turn does not end it, a deletion does", async () => {
    const session = await createSession();
    const client = await connectOlder(session.token, { url: {} });
    await askedPages(client);
    const { id } = await onlyItem(mcp.service, session);
    const { db } = mcp.container.services;
    await mcp.service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    assert.equal((await onlyItem(mcp.service, session)).state, "open");
    await db
      .update(inboxItems)
      .set({ expiresAt: new Date(0) })
      .where(eq(inboxItems.id, id));
    const late = await settle(mcp.service, session, id, { approve: true });
    assert.deepEqual([late.status, late.state], [409, "expired"]);
    const [page] = await askedPages(client);
    assert.notEqual(page?.elicitationId, id);
    await mcp.service.call("DELETE", `/api/sessions/${session.sessionId}`);
    assert.equal(
      (await settle(mcp.service, session, page?.elicitationId ?? "", { approve: true })).status,
      404,
    );
    await assert.rejects(client.callTool(WRITE));
    await client.close();
  });
});

describe("an item that an assistant settles with an API key", () => {
  const startAsking = async (text: string, more: Record<string, unknown> = {}) => {
    const owner = await mcp.connect(TEST_KEY);
    const view = await startAndWait(owner, text, { interaction: { mode: "ask" }, ...more });
    const [item] = view.waitingFor;
    assert.ok(item, JSON.stringify(view));
    return { owner, sessionId: view.sessionId, itemId: item.itemId, kind: item.kind };
  };

  const KINDS: Record<string, { text: string; more?: object; fits: object; misfits: object; state: string }> =
    {
      question: { text: "ask it", fits: { answer: "blue" }, misfits: { approve: true }, state: "answered" },
      approval: {
        text: "write it",
        more: { tools: { approve: ["write_file"] } },
        fits: { deny: true },
        misfits: { answer: "yes" },
        state: "denied",
      },
    };
  for (const [kind, { text, more, fits, misfits, state }] of Object.entries(KINDS))
    it(`of the kind ${kind} takes only what fits, and the first of two answers`, async () => {
      scriptByTask(mcp.service, {
        "ask it": [{ toolCalls: [ask("Which colour?")] }],
        "write it": [{ toolCalls: [WRITE] }],
      });
      const { owner, ...item } = await startAsking(text, { ...more });
      assert.equal(item.kind, kind);
      const { sessionId, itemId } = item;
      const other = await mcp.connect(OTHER_KEY);
      assert.equal((await callBadly(other, "answer", { sessionId, itemId, ...fits })).code, "not_found");
      assert.equal(
        (await callBadly(owner, "answer", { sessionId, itemId, ...misfits })).code,
        "invalid_request",
      );
      const both = await Promise.all(
        [1, 2].map(() => callTool(owner, "answer", { sessionId, itemId, ...fits })),
      );
      assert.deepEqual(both.map(({ isError }) => isError === true).toSorted(), [false, true]);
      const late = await callBadly(owner, "answer", { sessionId, itemId, ...fits });
      assert.match(late.error, new RegExp(`not open any more: ${state}`));
    });

  it("of the kind budget is only listed", async () => {
    scriptByTask(mcp.service, { "spend it": [{ toolCalls: [WRITE] }, { toolCalls: [WRITE] }] });
    const { owner, sessionId, itemId, kind } = await startAsking("spend it", { budget: { tokens: 1 } });
    assert.equal(kind, "budget");
    const refused = await callBadly(owner, "answer", { sessionId, itemId, approve: true });
    assert.match(refused.error, /is only listed/);
  });

  it("is closed after a stop, after its deadline, and unknown after a deletion", async () => {
    scriptByTask(mcp.service, { "ask it": [{ toolCalls: [ask("Which colour?")] }] });
    const stopped = await startAsking("ask it");
    const answer = { sessionId: stopped.sessionId, itemId: stopped.itemId, answer: "blue" };
    await callWell(stopped.owner, "stop_session", { sessionId: stopped.sessionId });
    assert.match((await callBadly(stopped.owner, "answer", answer)).error, /withdrawn/);
    const late = await startAsking("ask it", { interaction: { mode: "ask", timeoutSeconds: 10 } });
    const { sessionId, itemId } = late;
    await waitUntil(
      async () => (await listItems(mcp.service, late, "?state=expired")).length === 1,
      "the item has expired",
      30_000,
    );
    const refused = await callBadly(late.owner, "answer", { sessionId, itemId, answer: "blue" });
    assert.match(refused.error, /expired/);
    await mcp.service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.equal(
      (await callBadly(late.owner, "answer", { sessionId, itemId, answer: "blue" })).code,
      "not_found",
    );
  });
});
