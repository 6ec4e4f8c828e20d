import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { scriptByTask } from "../agents/agents-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";
import { ask } from "../waiting/waiting-testing.ts";
import { callTool, listNames, type McpService, openMcpService, readText } from "./builtin-mcp-testing.ts";
import { callBadly, callWell, startAndWait, waitFor } from "./session-tools-testing.ts";

// An assistant has only the URL of the endpoint and an API key.

let mcp: McpService;
let client: Client;
before(async () => {
  mcp = await openMcpService({ SANDBOX: "unconfined" });
  client = await mcp.connect(TEST_KEY);
});
after(() => mcp.close());

const TOOLS = [
  "answer",
  "list_sessions",
  "read_session",
  "send_message",
  "start_session",
  "stop_session",
  "wait_for_session",
];
const ASKING = { interaction: { mode: "ask" } };

/** A step that lasts until `release` is called. */
function holdStep(step: Step) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { step: { ...step, hold: promise }, release: resolve };
}

describe("an assistant with an API key", () => {
  it("starts, steers, answers and stops a session over MCP only", async () => {
    assert.deepEqual(await listNames(client), TOOLS);
    const slow = holdStep({ text: "Never." });
    scriptByTask(mcp.service, {
      "book a table": [{ toolCalls: [ask("For how many?", { options: ["2", "4"] })] }, { text: "Booked." }],
      "and a taxi": [slow.step],
    });
    const asking = await startAndWait(client, "book a table", ASKING);
    assert.deepEqual([asking.state, asking.isRunning, asking.waitingFor.length], ["waiting", true, 1]);
    const [item] = asking.waitingFor;
    assert.deepEqual([item?.kind, item?.title, item?.options], ["question", "For how many?", ["2", "4"]]);
    const { sessionId } = asking;

    const settled = { sessionId, itemId: item?.itemId, answer: "4" };
    assert.equal((await callWell<{ state: string }>(client, "answer", settled)).state, "answered");
    assert.match((await callBadly(client, "answer", settled)).error, /not open any more: answered/);
    const done = await waitFor(client, sessionId);
    assert.deepEqual([done.state, done.isRunning, done.waitingFor], ["done", false, []]);
    assert.equal(done.messages.at(-1)?.text, "Booked.");
    assert.match(mcp.service.model.requests.at(-1)?.toolResults[0] ?? "", /4/);

    await callWell(client, "send_message", { sessionId, text: "and a taxi" });
    await waitUntil(
      async () => (await callWell(client, "read_session", { sessionId })).state === "working",
      "the turn runs",
    );
    const steer = await callWell<{ isQueued: boolean }>(client, "send_message", {
      sessionId,
      text: "for two",
      mode: "steer",
    });
    assert.equal(steer.isQueued, true);
    const stopped = await callWell<{ stoppedRunId: string | null }>(client, "stop_session", { sessionId });
    assert.match(stopped.stoppedRunId ?? "", /^run_/);
    slow.release();
    assert.equal((await waitFor(client, sessionId)).isRunning, false);
    const { sessions } = await callWell<{ sessions: { sessionId: string }[] }>(client, "list_sessions");
    assert.ok(sessions.some((each) => each.sessionId === sessionId));
  });

  it("has the same tools with a client of the newest revision", async () => {
    const pinned = new NewClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const requestInit = { headers: { "x-service-api-key": TEST_KEY } };
    await pinned.connect(new StreamableHTTPClientTransport(new URL(mcp.url), { requestInit }));
    const { tools } = await pinned.listTools();
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), TOOLS);
    // The client checks the result against the output schema, because it has listed the tools.
    const listed = await pinned.callTool({ name: "list_sessions", arguments: { limit: 1 } });
    assert.notEqual(listed.isError, true);
    await pinned.close();
  });

  it("gets a link to the page of the session, which opens it", async () => {
    const { pageUrl } = await startAndWait(client, "say something");
    assert.ok(pageUrl.startsWith(`${mcp.service.env.baseUrl}/s/`));
    const { pathname, search } = new URL(pageUrl);
    const entered = await mcp.container.exchangeLinkForCookie({
      method: "GET",
      url: new URL(pathname + search, mcp.service.env.baseUrl),
      cookieHeader: null,
    });
    assert.ok(entered instanceof Response && entered.headers.has("set-cookie"));
  });

  it("is told while it waits what the agent does, and gets its turn back at the end of its time", async () => {
    const write = holdStep({
      toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "a" } }],
    });
    const slow = holdStep({ text: "Late." });
    scriptByTask(mcp.service, { "write slowly": [write.step, slow.step] });
    const { sessionId } = await callWell(client, "start_session", {
      text: "write slowly",
      capabilities: { browser: false },
    });
    const messages: (string | undefined)[] = [];
    const progress: number[] = [];
    const result = await client.callTool(
      { name: "wait_for_session", arguments: { sessionId, timeoutSeconds: 4 } },
      undefined,
      {
        onprogress: (report) => {
          messages.push(report.message);
          // The wait has begun.
          write.release();
          progress.push(report.progress);
        },
      },
    );
    assert.equal((result.structuredContent as { isRunning: boolean }).isRunning, true);
    assert.ok(
      messages.some((message) => message?.includes("a.txt")),
      JSON.stringify(messages),
    );
    assert.deepEqual(
      progress,
      progress.toSorted((one, other) => one - other),
    );
    slow.release();
    assert.equal((await waitFor(client, sessionId)).messages.at(-1)?.text, "Late.");
  });

  it("waits with `until: end` while a person answers", async () => {
    scriptByTask(mcp.service, { "ask a person": [{ toolCalls: [ask("Which one?")] }, { text: "Good." }] });
    const { sessionId, waitingFor } = await startAndWait(client, "ask a person", ASKING);
    const waiting = waitFor(client, sessionId, { until: "end" });
    const settled = await mcp.service.call(
      "POST",
      `/api/sessions/${sessionId}/inbox/${waitingFor[0]?.itemId}`,
      { answer: "this" },
    );
    assert.equal(settled.status, 200);
    const { state, messages } = await waiting;
    assert.deepEqual([state, messages.at(-1)?.text], ["done", "Good."]);
  });

  it("creates one session for a repeated call, and is refused another task under the same key", async () => {
    const input = { text: "say it once", idempotencyKey: "once", capabilities: { browser: false } };
    const first = await callWell(client, "start_session", input);
    assert.equal((await callWell(client, "start_session", input)).sessionId, first.sessionId);
    const reused = await callBadly(client, "start_session", { ...input, text: "say it twice" });
    assert.equal(reused.code, "idempotency_key_reused");
  });

  it("gets errors that name the field, and null counts as absent", async () => {
    for (const [name, input, sentence] of [
      ["start_session", {}, /^start_session: text: is required/],
      ["start_session", { text: "a", targetUrl: "ftp://a" }, /targetUrl: must/],
      ["start_session", { text: "a", tools: { approve: ["@none"] } }, /tools\.approve\[0\]: must be/],
      ["start_session", { text: "a", outputSchema: { type: "array" } }, /^outputSchema: /],
      ["start_session", { text: "a", callback: { url: "http://a.example" } }, /callback: unknown field/],
      [
        "wait_for_session",
        { sessionId: "ses_a", timeoutSeconds: 61 },
        /timeoutSeconds: must be a whole number from 1 to 60/,
      ],
      ["read_session", { sessionId: "../x" }, /^no such session$/],
      ["list_sessions", { cursor: "!" }, /^cursor: /],
      ["answer", { sessionId: "ses_a", itemId: "itm_a" }, /^no such session$/],
    ] as const)
      assert.match((await callBadly(client, name, input)).error, sentence, name);
    const session = await startAndWait(client, "say something", { targetUrl: null, outputSchema: null });
    assert.equal(session.state, "done");
    const { sessionId } = session;
    const malformed = await callBadly(client, "answer", {
      sessionId,
      itemId: "itm_a",
      approve: true,
      deny: true,
    });
    assert.match(malformed.error, /deny: unknown field|approve: unknown field|must be/);
  });

  it("gets the structured result, and bounded texts", async () => {
    const long = "é".repeat(50_000);
    const value = { title: "Checkout", text: "" };
    let text = "";
    mcp.service.model.respondWith(({ kind, userText }) => {
      if (userText.includes("huge")) text = long + long + long;
      if (kind === "structured") return { json: { ...value, text } };
      return kind === "probe" ? { json: {} } : { text: long };
    });
    const spoken = await startAndWait(client, "a long text");
    const last = spoken.messages.at(-1);
    assert.deepEqual([last?.isCut, last?.text.length], [true, 8_000]);
    const outputSchema = {
      type: "object",
      properties: { title: { type: "string" }, text: { type: "string" } },
      required: ["title", "text"],
      additionalProperties: false,
    };
    const typed = await startAndWait(client, "typed result", { outputSchema });
    assert.deepEqual(typed.result, { status: "ready", value });
    const huge = await startAndWait(client, "huge result", { outputSchema });
    assert.deepEqual(huge.result, { status: "ready", isValueLeftOut: true });
    const older = await callWell(client, "read_session", {
      sessionId: spoken.sessionId,
      afterMessage: 0,
      messages: 1,
    });
    assert.deepEqual(
      older.messages.map(({ seq, text }) => [seq, text]),
      [[1, "a long text"]],
    );
  });

  it("approves a call with the arguments that it was shown, and denies another", async () => {
    const write = (content: string) => ({
      toolCalls: [{ name: "write_file", arguments: { path: "approved.txt", content } }],
    });
    scriptByTask(mcp.service, {
      "write with care": [write("first"), write("second"), { text: "Both tried." }],
    });
    const asked = { ...ASKING, tools: { approve: ["write_file"] } };
    const { sessionId, waitingFor } = await startAndWait(client, "write with care", asked);
    assert.deepEqual(waitingFor[0]?.call, {
      toolName: "write_file",
      input: '{"path":"approved.txt","content":"first"}',
      isCut: false,
    });
    await callWell(client, "answer", { sessionId, itemId: waitingFor[0]?.itemId, approve: true });
    const second = await waitFor(client, sessionId);
    await callWell(client, "answer", {
      sessionId,
      itemId: second.waitingFor[0]?.itemId,
      deny: true,
      reason: "enough",
    });
    assert.equal((await waitFor(client, sessionId)).state, "done");
    const { data } = await mcp.service.read<{ data: { sizeBytes?: number; path?: string }[] }>(
      `/api/sessions/${sessionId}/files`,
    );
    assert.deepEqual(
      data.filter(({ path }) => path === "approved.txt").map(({ sizeBytes }) => sizeBytes),
      ["first".length],
    );
  });

  it("reads a result in text that has everything that the structured result has to say", async () => {
    const { sessionId } = await startAndWait(client, "say something");
    const text = readText(await callTool(client, "read_session", { sessionId }));
    for (const part of [sessionId, "done", "/s/", "Done."]) assert.ok(text.includes(part), part);
  });
});
