import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { mintUserToken } from "#lib/secrets/user-token.ts";
import { OTHER_KEY, TEST_KEY } from "../testing.ts";
import { ask } from "../waiting/waiting-testing.ts";
import { callTool, listNames, type McpService, openMcpService } from "./builtin-mcp-testing.ts";
import { listToolsRequest } from "./list-tools-request.ts";
import { callBadly, callWell, createKey, startAndWait } from "./session-tools-testing.ts";

// Each tool with each credential that is not the key of the session's owner.

let mcp: McpService;
let owner: Client;
/** A session of the owner with an open question. */
let session: { sessionId: string; itemId: string; pageUrl: string };
before(async () => {
  mcp = await openMcpService();
  owner = await mcp.connect(TEST_KEY);
  mcp.service.model.respondWith(({ answersSoFar }) =>
    answersSoFar === 0 ? { toolCalls: [ask("Which one?")] } : { text: "Done." },
  );
  const more = { interaction: { mode: "ask" } };
  const { sessionId, pageUrl, waitingFor } = await startAndWait(owner, "ask something", more);
  session = { sessionId, pageUrl, itemId: waitingFor[0]?.itemId ?? "" };
});
after(() => mcp.close());

const NOT_FOUND = { code: "not_found", error: "no such session" };
const UNKNOWN = { sessionId: "ses_aaaaaaaaaaaaaaaaaaaaaaaa", itemId: "itm_aaaaaaaaaaaaaaaaaaaaaaaa" };

/** A call of each tool that names a session. */
const callsOf = ({ sessionId, itemId }: { sessionId: string; itemId: string }) => ({
  read_session: { sessionId },
  wait_for_session: { sessionId, timeoutSeconds: 1 },
  send_message: { sessionId, text: "Stolen." },
  answer: { sessionId, itemId, answer: "stolen" },
  stop_session: { sessionId },
});

const isUntouched = async () => {
  const view = await callWell(owner, "read_session", { sessionId: session.sessionId });
  assert.deepEqual(
    [view.state, view.waitingFor[0]?.itemId, view.messages.length],
    ["waiting", session.itemId, 2],
  );
};

describe("a session over MCP", () => {
  it("is unknown to the key of another owner, with the same sentence as one that does not exist", async () => {
    const other = await mcp.connect(OTHER_KEY);
    for (const [name, input] of Object.entries(callsOf(session))) {
      const theirs = await callBadly(other, name, input);
      const none = await callBadly(other, name, { ...input, ...pick(UNKNOWN, input) });
      assert.deepEqual([theirs, none], [NOT_FOUND, NOT_FOUND], name);
    }
    const { sessions } = await callWell<{ sessions: unknown[] }>(other, "list_sessions");
    assert.deepEqual(sessions, []);
    // An item of another session of the same owner is unknown, too.
    const mine = await startAndWait(owner, "ask again", { interaction: { mode: "ask" } });
    const crossed = await callBadly(owner, "answer", {
      sessionId: mine.sessionId,
      itemId: session.itemId,
      answer: "crossed",
    });
    assert.equal(crossed.code, "not_found");
    await isUntouched();
  });

  it("is out of reach of user tokens: they are offered no such tool", async () => {
    const audience = mcp.url;
    const agentToken = mintUserToken(mcp.tokenKey, {
      sessionId: session.sessionId,
      audience,
      expiresAt: new Date(Date.now() + 60_000),
      holder: "agent",
      keyId: null,
    });
    for (const token of [agentToken, await mcp.requestToken(session.sessionId)]) {
      const client = await mcp.connect(token);
      const names = await listNames(client);
      for (const [name, input] of Object.entries({
        ...callsOf(session),
        start_session: { text: "Stolen." },
        list_sessions: {},
      })) {
        assert.ok(!names.includes(name), name);
        await assert.rejects(callTool(client, name, input), /there is no tool named/, name);
      }
    }
    await isUntouched();
  });

  it("needs a valid key: share tokens, unknown and revoked keys, cookies and no credential are refused", async () => {
    const token = new URL(session.pageUrl).searchParams.get("key") ?? "";
    const { key, revoke } = await createKey(mcp, ["sessions:read", "sessions:write"]);
    const send = (headers: Record<string, string>) =>
      fetch(mcp.url, {
        ...listToolsRequest(""),
        headers: { ...listToolsRequest("").headers, authorization: "", ...headers },
      });
    assert.equal((await send({ authorization: `Bearer ${key}` })).status, 200);
    assert.equal((await send({ "x-service-api-key": key })).status, 200);
    await revoke();
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { "x-service-api-key": key },
      { authorization: `Bearer ${token}` },
      { "x-service-api-key": token },
      { authorization: "Bearer wrong", "x-service-api-key": TEST_KEY },
      { authorization: `Bearer ${"x".repeat(2_000)}` },
      { authorization: `Basic ${TEST_KEY}` },
      { cookie: `share=${token}` },
      {},
    ]) {
      const refused = await send(headers as Record<string, string>);
      assert.equal(refused.status, 401, JSON.stringify(headers));
      const challenge = refused.headers.get("www-authenticate") ?? "";
      const isWrong =
        Object.keys(headers).some((name) => name !== "cookie") && !/Basic/.test(JSON.stringify(headers));
      assert.equal(challenge.includes('error="invalid_token"'), isWrong, challenge);
      const metadata = /resource_metadata="([^"]+)"$/.exec(challenge)?.[1] ?? "";
      assert.equal(new URL(metadata).origin, mcp.service.env.baseUrl);
      const described = await mcp.service.read<{ resource: string }>(new URL(metadata).pathname);
      assert.equal(described.resource, mcp.url);
    }
    const tokenInOtherHeader = await send({ "x-service-api-key": await mcp.requestToken(session.sessionId) });
    assert.equal(tokenInOtherHeader.status, 401);
  });

  it("may only be read with a key that has only the scope to read, and its page link is for readers", async () => {
    const { key } = await createKey(mcp, ["sessions:read"]);
    const reader = await mcp.connect(key);
    const view = await callWell(reader, "read_session", { sessionId: session.sessionId });
    assert.equal(view.waitingFor[0]?.answerUrl, undefined, "a link to answer is a credential that settles");
    assert.notEqual(view.pageUrl, session.pageUrl);
    const { send_message, answer, stop_session } = callsOf(session);
    for (const [name, input] of Object.entries({
      send_message,
      answer,
      stop_session,
      start_session: { text: "Stolen." },
    }))
      assert.deepEqual(
        await callBadly(reader, name, input),
        { code: "forbidden", error: "this API key lacks the scope sessions:write" },
        name,
      );
    const { key: writeOnly } = await createKey(mcp, ["sessions:write"]);
    const writer = await mcp.connect(writeOnly);
    for (const name of ["read_session", "wait_for_session"] as const)
      assert.equal((await callBadly(writer, name, callsOf(session)[name])).code, "forbidden", name);
    await isUntouched();
    const lines = await mcp.service.readSecurityLog();
    assert.ok(lines.some(({ event, needed }) => event === "scope.refused" && needed === "sessions:write"));
  });

  it("is waited for only as long as the key is valid", async () => {
    const { key, revoke } = await createKey(mcp, ["sessions:read", "sessions:write"]);
    const params = {
      name: "wait_for_session",
      arguments: { sessionId: session.sessionId, timeoutSeconds: 60, until: "end" },
      _meta: { progressToken: 1 },
    };
    const answer = await mcp.post(key, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    assert.match(first?.value ?? "", /notifications\/progress/);
    await revoke();
    let rest = "";
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) rest += part.value;
    assert.doesNotMatch(rest, /Which one/);
  });
});

/** The fields of `from` that `like` has, too. */
const pick = (from: Record<string, string>, like: object) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => name in like));
