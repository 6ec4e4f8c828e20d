import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { scriptByTask } from "../agents/agents-testing.ts";
import { OTHER_KEY, TEST_KEY, waitUntil } from "../testing.ts";
import { ask } from "../waiting/waiting-testing.ts";
import { type McpService, openMcpService } from "./builtin-mcp-testing.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const REVISION = "2026-07-28";
const META = "io.modelcontextprotocol";

let mcp: McpService;
before(async () => {
  mcp = await openMcpService({ SANDBOX: "unconfined" });
});
after(() => mcp.close());

type Answer = {
  result?: {
    resultType: string;
    taskId: string;
    status: string;
    statusMessage?: string;
    inputRequests?: Record<string, { method: string; params: Record<string, unknown> }>;
    result?: { structuredContent: { session: { messages: { text: string }[] } }; isError: boolean };
    capabilities?: { extensions?: Record<string, unknown> };
    structuredContent?: { sessionId: string };
  };
  error?: { code: number; message: string; data?: unknown };
};

const ALL = { extensions: { [TASKS]: {} }, elicitation: { form: {}, url: {} } };

/** Sends a request of the newest revision, from a client with these capabilities. */
async function request(
  method: string,
  params: Record<string, unknown>,
  { as = TEST_KEY, capabilities = ALL }: { as?: string; capabilities?: object } = {},
): Promise<Answer> {
  const _meta = {
    [`${META}/protocolVersion`]: REVISION,
    [`${META}/clientInfo`]: { name: "test", version: "1" },
    [`${META}/clientCapabilities`]: capabilities,
  };
  const name = params.taskId ?? params.name;
  const response = await mcp.post(
    as,
    { jsonrpc: "2.0", id: 1, method, params: { _meta, ...params } },
    {
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  );
  const text = await response.text();
  return JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}")) as Answer;
}

const start = (text: string, more: Record<string, unknown> = {}, options = {}) =>
  request(
    "tools/call",
    { name: "start_session", arguments: { text, capabilities: { browser: false }, ...more } },
    options,
  );

/** Starts a session as a task. @returns its id. */
async function startTask(text: string, more: Record<string, unknown> = {}) {
  const { result, error } = await start(text, more);
  assert.equal(result?.resultType, "task", JSON.stringify(error ?? result));
  assert.equal(result.status, "working");
  return result.taskId;
}

/** Waits until a task has a status. @returns the task. */
async function untilStatus(taskId: string, status: string) {
  let task: Answer["result"];
  await waitUntil(async () => {
    task = (await request("tasks/get", { taskId })).result;
    return task?.status === status;
  }, `the task is ${status}`);
  assert.ok(task?.resultType === "complete");
  return task;
}

const ASKING = { interaction: { mode: "ask" } };

describe("a session as a task", () => {
  it("is created only for clients that declare the extension, which the server names", async () => {
    const discovered = await request("server/discover", {});
    assert.deepEqual(discovered.result?.capabilities?.extensions, { [TASKS]: {} });
    const plain = await start("say something", {}, { capabilities: {} });
    assert.equal(plain.result?.resultType, "complete");
    assert.match(plain.result?.structuredContent?.sessionId ?? "", /^\w/);
    const refused = await start("", {});
    assert.equal(refused.result?.resultType, "complete", "a refusal is a result at once");
  });

  it("asks what the agent asks, takes the answer, and ends with the session as its result", async () => {
    scriptByTask(mcp.service, {
      "book it": [{ toolCalls: [ask("For how many?", { options: ["2", "4"] })] }, { text: "Booked." }],
    });
    const taskId = await startTask("book it", ASKING);
    const { inputRequests = {}, statusMessage } = await untilStatus(taskId, "input_required");
    const [[key, asked] = ["", undefined]] = Object.entries(inputRequests);
    assert.match(statusMessage ?? "", /For how many/);
    assert.deepEqual([asked?.method, asked?.params.mode], ["elicitation/create", "form"]);
    const answer = (value: unknown) =>
      request("tasks/update", {
        taskId,
        inputResponses: { [key]: { action: "accept", content: { answer: value } }, itm_unknown: {} },
      });
    assert.equal((await answer("")).error?.code, -32602);
    const [one, two] = await Promise.all([answer("4"), answer("2")]);
    assert.deepEqual([one.result?.resultType, two.result?.resultType], ["complete", "complete"]);
    const { result } = await untilStatus(taskId, "completed");
    assert.equal(result?.isError, false);
    assert.equal(result?.structuredContent.session.messages.at(-1)?.text, "Booked.");
  });

  it("asks for an approval with a page, which a response does not settle", async () => {
    scriptByTask(mcp.service, {
      "write it": [{ toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "a" } }] }],
    });
    const taskId = await startTask("write it", { ...ASKING, tools: { approve: ["write_file"] } });
    const { inputRequests = {} } = await untilStatus(taskId, "input_required");
    const [[key, asked] = ["", undefined]] = Object.entries(inputRequests);
    assert.equal(asked?.params.mode, "url");
    assert.ok(String(asked?.params.url).startsWith(`${mcp.service.env.baseUrl}/answer/${key}?key=`));
    await request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content: {} } } });
    assert.equal((await request("tasks/get", { taskId })).result?.status, "input_required");
    await request("tasks/cancel", { taskId });
    await untilStatus(taskId, "cancelled");
    assert.equal((await request("tasks/cancel", { taskId })).result?.resultType, "complete");
  });

  it("only works on for a client that cannot be asked", async () => {
    scriptByTask(mcp.service, { "ask it": [{ toolCalls: [ask("Which one?")] }] });
    const taskId = await startTask("ask it", ASKING);
    await untilStatus(taskId, "input_required");
    const capabilities = { extensions: { [TASKS]: {} } };
    const { result } = await request("tasks/get", { taskId }, { capabilities });
    assert.deepEqual([result?.status, result?.statusMessage], ["working", "Waits for a person: Which one?"]);
    await request("tasks/cancel", { taskId });
  });

  it("is unknown to others: another owner, a session's token, no extension, a wrong id, a deleted session", async () => {
    scriptByTask(mcp.service, { "ask it": [{ toolCalls: [ask("Which one?")] }] });
    const taskId = await startTask("ask it", ASKING);
    const { inputRequests = {} } = await untilStatus(taskId, "input_required");
    const [key = ""] = Object.keys(inputRequests);
    const [sessionId = ""] = taskId.split(".");
    const token = await mcp.requestToken(sessionId);
    const inputResponses = { [key]: { action: "accept", content: { answer: "stolen" } } };
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = { taskId, ...(method === "tasks/update" && { inputResponses }) };
      const codeOf = async (...args: Parameters<typeof request>) => (await request(...args)).error?.code;
      assert.equal(await codeOf(method, params, { as: OTHER_KEY }), -32602, method);
      assert.equal(await codeOf(method, params, { as: token }), -32601, method);
      assert.equal(await codeOf(method, params, { capabilities: {} }), -32021, method);
      for (const wrong of ["", "../x", `${taskId}.x`, `${sessionId}.req_none`])
        assert.equal(await codeOf(method, { ...params, taskId: wrong }), -32602, `${method} ${wrong}`);
    }
    assert.equal((await request("tasks/get", { taskId })).result?.status, "input_required");
    await mcp.service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.equal((await request("tasks/get", { taskId })).error?.code, -32602);
  });
});
