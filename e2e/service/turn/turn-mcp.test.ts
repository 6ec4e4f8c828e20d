import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import {
  type ScriptedTool,
  startToolServer,
  type ToolServer,
  type ToolServerOptions,
} from "#e2e/fixtures/mcp/start-tool-server.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { answerElicitation } from "#lib/session/elicitation/answer-elicitation.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "./turn-testing.ts";

const certificate = makeCertificate();
const closing: ToolServer[] = [];
let service: TestService;

before(async () => {
  trustCertificate(certificate);
  service = await openTestService({ SANDBOX: "none" });
});
after(async () => {
  await service.close();
  for (const server of closing) await server.close();
});

async function start(tools: ScriptedTool[], options: ToolServerOptions = {}): Promise<ToolServer> {
  const server = await startToolServer({ certificate, tools, ...options });
  closing.push(server);
  return server;
}

const steps = (steps: Step[], target = service) => {
  const queue = [...steps];
  target.model.respondWith(() => queue.shift() ?? { text: "Done." });
};
const use = (name: string, input: unknown = {}): Step => ({
  toolCalls: [{ name: `mcp_crm__${name}`, arguments: input }],
});
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** Returns the names of the tools that a model call offers. */
const namesIn = (body: Record<string, unknown> | undefined): string[] =>
  ((body?.tools ?? []) as { name: string }[]).map(({ name }) => name);

/** Returns the tools of the server `crm` that each model call offered. */
const offered = (target = service) =>
  target.model.requests.map(({ body }) => namesIn(body).filter((name) => name.startsWith("mcp_crm__")));

async function play(queue: Step[], more: Record<string, unknown>) {
  service.model.requests.length = 0;
  steps(queue);
  const session = await service.create("use the crm", more);
  await service.completed(session.statusUrl);
  return { ...session, events: await readEvents(service, session.sessionId) };
}

/** Posts a follow-up as a person on the session page. */
async function followAsPerson(
  session: { sessionId: string; shareUrl: string },
  words: string,
  target = service,
  mode?: "steer",
) {
  const link = new URL(session.shareUrl, target.env.baseUrl);
  const entered = await target.container.exchangeLinkForCookie({
    method: "GET",
    url: link,
    cookieHeader: null,
  });
  assert.ok(entered instanceof Response);
  const [cookie = ""] = entered.headers.get("set-cookie")?.split(";") ?? [];
  const answer = await target.call(
    "POST",
    `/s/${session.sessionId}/actions/messages`,
    { text: words, ...(mode && { mode }) },
    { cookie, origin: target.env.baseUrl, authorization: "" },
  );
  assert.equal(answer.status, 202, await answer.clone().text());
  return (await answer.json()) as { statusUrl: string };
}

describe("a session's tool servers in a turn", () => {
  it("show the model all parameters, and get the input as the model writes it; also as a task", async () => {
    const pair = { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2 };
    const inputs: unknown[] = [];
    const call = (input: unknown) => {
      inputs.push(input);
      return text("kept");
    };
    const tools: ScriptedTool[] = [
      {
        name: "keep",
        call,
        inputSchema: {
          $ref: "#/$defs/deal",
          $defs: {
            deal: {
              type: "object",
              properties: { pair, code: { type: "string", pattern: "^[\\w-.]+\\-$" } },
              required: ["pair"],
              patternProperties: { "^x-": { type: "number" } },
              additionalProperties: false,
            },
          },
        } as never,
      },
      { name: "build", call, execution: { taskSupport: "required" } },
    ];
    const server = await start(tools, { hasTasks: true });
    const without = await start(tools);
    const input = { pair: ["a", 1], "x-size": 2 };
    const { events } = await play([use("keep", input), use("build", { what: "a shop" })], {
      mcpServers: { crm: { url: server.url }, old: { url: without.url } },
    });
    const sent = service.model.requests[0]?.body.tools as { name: string; parameters: unknown }[];
    assert.deepEqual(sent.find(({ name }) => name === "mcp_crm__keep")?.parameters, {
      type: "object",
      properties: {
        pair: { ...pair, items: {}, description: "At least 2 items." },
        code: { type: "string", description: "Matches the pattern `^[\\w-.]+\\-$`." },
      },
      description: "Every further property name matches `^x-`.",
      required: ["pair"],
      additionalProperties: { type: "number" },
    });
    assert.deepEqual(inputs, [input, { what: "a shop" }]);
    assert.match(service.model.requests.at(-1)?.toolResults.at(-1) ?? "", /kept/);
    assert.deepEqual(
      only(events, "mcp.skipped").map(({ serverId, tools: left, reason }) => [serverId, left, reason]),
      [
        [
          "old",
          ["build"],
          "it has to be called as a task, and its server does not offer to run tool calls as tasks",
        ],
      ],
    );
    assert.ok(!sent.some(({ name }) => name === "mcp_old__build"));
  });

  it("are listed once and called over one connection, and their results reach the model as data", async () => {
    const inputSchema = { type: "object" as const, properties: { id: { type: "string" } }, required: ["id"] };
    const server = await start([
      {
        name: "find",
        inputSchema,
        annotations: { readOnlyHint: true },
        call: ({ id }) => text(`deal ${id}`),
      },
      { name: "fail", call: () => ({ ...text("no such deal"), isError: true }) },
    ]);
    const headers = { authorization: "Bearer canary-of-this-test" };
    const queue = [use("find", { id: "7" }), use("fail"), { text: "Found." }];
    const { events, sessionId } = await play(queue, { mcpServers: { crm: { url: server.url, headers } } });
    assert.deepEqual(offered(), Array(3).fill(["mcp_crm__find", "mcp_crm__fail"]));
    const [request] = service.model.requests;
    const tools = request?.body.tools as { name: string; parameters: unknown; strict?: boolean }[];
    const find = tools.find(({ name }) => name === "mcp_crm__find");
    assert.deepEqual([find?.parameters, find?.strict], [inputSchema, false]);
    const results = service.model.requests.at(-1)?.toolResults ?? [];
    assert.match(results[0] ?? "", /data from the tool server "crm".*<(data-\w+)>\ndeal 7\n<\/\1>/s);
    assert.match(results[1] ?? "", /no such deal/);
    assert.deepEqual(
      only(events, "tool.result").map(({ toolName, state }) => [toolName, state]),
      [
        ["mcp_crm__find", "succeeded"],
        ["mcp_crm__fail", "failed"],
      ],
    );
    assert.equal(server.messages("initialize").length, 1);
    assert.equal(server.messages("tools/list").length, 1);
    await waitUntil(() => server.openSessions() === 0, "the connection is closed after the turn");
    const transcript = await (await service.call("GET", `/api/sessions/${sessionId}/messages`)).text();
    const seen = JSON.stringify([events, transcript, service.model.requests]);
    assert.ok(!seen.includes("canary-of-this-test"));
  });

  it("are called at their full URL, whose query is masked in answers and hidden from the model", async () => {
    const paths: (string | undefined)[] = [];
    const server = await start([{ name: "find", call: () => text("called with ?key=canary-of-the-url") }], {
      before: (_asked, _response, request) => void paths.push(request.url),
    });
    const url = `${server.url}?key=canary-of-the-url`;
    const { events, sessionId } = await play([use("find"), { text: "Found." }], {
      mcpServers: { crm: { url } },
    });
    assert.equal(only(events, "tool.result")[0]?.state, "succeeded");
    const { session } = await service.read<{ session: { mcpServers: object } }>(`/api/sessions/${sessionId}`);
    assert.deepEqual(session.mcpServers, { crm: { url: `${server.url}?key=***`, type: "http" } });
    const seen = JSON.stringify([events, session, service.model.requests]);
    assert.ok(!seen.includes("canary-of-the-url"));
    assert.ok(seen.includes("[redacted]"));
    assert.deepEqual([...new Set(paths)], ["/mcp?key=canary-of-the-url"]);
  });

  it("may answer pictures, which are stored as evidence and shown to the model", async () => {
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const server = await start([
      { name: "chart", call: () => ({ content: [{ type: "image", data, mimeType: "image/png" }] }) },
    ]);
    const { events, sessionId } = await play([use("chart")], { mcpServers: { crm: { url: server.url } } });
    const [evidence] = only(events, "tool.result")[0]?.evidence ?? [];
    assert.equal(evidence?.mediaType, "image/png");
    const stored = await service.call("GET", `/api/sessions/${sessionId}/artifacts/${evidence?.id}`);
    assert.equal(Buffer.from(await stored.arrayBuffer()).toString("base64"), data);
    assert.ok(JSON.stringify(service.model.requests.at(-1)?.body).includes(data));
  });

  it("may answer long results, which are stored whole and cut in the prompt", async () => {
    const long = `begin ${"x".repeat(100_000)} end`;
    const server = await start([{ name: "export", call: () => text(long) }]);
    const { events } = await play([use("export")], { mcpServers: { crm: { url: server.url } } });
    const [shown = ""] = service.model.requests.at(-1)?.toolResults ?? [];
    assert.ok(shown.length < 15_000 && shown.includes("read_tool_result"));
    const resultId = only(events, "tool.result")[0]?.resultId ?? "";
    const { transcript } = service.container.services;
    const sessionId = events[0]?.sessionId ?? "";
    const range = { offset: 100_000, limit: 1_000 };
    assert.match(JSON.stringify(await transcript.readToolResult(sessionId, resultId, range)), /x end/);
  });

  it("are skipped if they fail, which an event and the instructions report, and the turn runs", async () => {
    const server = await start([{ name: "find" }, { name: "not a name" }]);
    const closed = await start([]);
    await closed.close();
    const headers = { authorization: "Bearer canary" };
    const { events } = await play([], {
      mcpServers: { crm: { url: server.url }, dead: { url: closed.url, headers } },
    });
    assert.deepEqual(
      only(events, "mcp.skipped").map(({ serverId, reason, tools, toolCount }) => ({
        serverId,
        reason,
        tools,
        toolCount,
      })),
      [
        {
          serverId: "crm",
          reason: "its name, as mcp_crm__<tool>, is not 1 to 64 letters, digits, _ or -",
          tools: ["not a name"],
          toolCount: 1,
        },
        {
          serverId: "dead",
          reason: `127.0.0.1:${closed.port} refused the connection`,
          tools: undefined,
          toolCount: undefined,
        },
      ],
    );
    const [request] = service.model.requests;
    assert.match(request?.text ?? "", /tool servers could not be reached.*: dead\./);
    assert.deepEqual(offered(), [["mcp_crm__find"]]);
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
    // The event `mcp.skipped` must not come before the start of the run.
    assert.equal(events[0]?.kind, "run.started");
  });

  it("keep their tools in the analysis profile; exclude removes tools by name or with a trailing *", async () => {
    const server = await start([{ name: "find" }, { name: "drop_all" }, { name: "drop_one" }]);
    const unwanted = await start([{ name: "any" }]);
    const outputSchema = { type: "object", properties: { a: { type: "string" } } };
    await play([{ text: "Done." }, { json: { a: "x" } }], {
      outputSchema,
      mcpServers: { crm: { url: server.url }, other: { url: unwanted.url } },
      tools: { exclude: ["mcp_crm__drop*", "mcp_other__*"] },
    });
    const turnCall = service.model.requests.find(({ kind }) => kind === "turn");
    assert.deepEqual(
      namesIn(turnCall?.body).filter((name) => /^mcp_(crm|other)__/.test(name)),
      ["mcp_crm__find"],
    );
    assert.deepEqual(unwanted.requests, [], "a server that is excluded completely is not contacted");
  });

  it("lose the tools in externalTurnExclude in an external turn, and have them in a person's", async () => {
    const server = await start([{ name: "find" }, { name: "pay" }]);
    const session = await play([], {
      mcpServers: { crm: { url: server.url } },
      tools: { externalTurnExclude: ["mcp_crm__pay"] },
    });
    assert.deepEqual(offered(), [["mcp_crm__find"]]);
    const { statusUrl } = await followAsPerson(session, "pay it");
    await service.completed(statusUrl);
    assert.deepEqual(offered().at(-1), ["mcp_crm__find", "mcp_crm__pay"]);
  });

  it("get a cancellation of a running call after a stop", async () => {
    const started = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const server = await start([
      {
        name: "hang",
        async call(_, { signal }) {
          signal.addEventListener("abort", () => cancelled.resolve());
          started.resolve();
          await cancelled.promise;
          return text("late");
        },
      },
    ]);
    steps([use("hang")]);
    const session = await service.create("use the crm", { mcpServers: { crm: { url: server.url } } });
    await started.promise;
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await Promise.all([cancelled.promise, service.completed(session.statusUrl)]);
  });

  it("do not delay a stop if they do not answer the listing", async () => {
    const server = await start([], { before: () => true });
    const session = await service.create("use the crm", { mcpServers: { crm: { url: server.url } } });
    await waitUntil(() => server.requests.length > 0, "the server has a request");
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await service.completed(session.statusUrl);
    assert.equal(
      only(await readEvents(service, session.sessionId), "run.completed")[0]?.outcome,
      "cancelled",
    );
  });

  it("are not contacted if the provider refuses the schema in the probe", async () => {
    const server = await start([{ name: "find" }]);
    const silent = await start([], { before: () => true });
    const more = {
      outputSchema: { type: "object", properties: { deal: { type: "string" } }, required: ["deal"] },
      mcpServers: { crm: { url: server.url }, silent: { url: silent.url } },
    };
    const { events } = await play([{ status: 400, message: "Invalid schema for response_format" }], more);
    assert.deepEqual(
      only(events, "run.completed").map(({ outcome, error }) => [outcome, error]),
      [["errored", "Invalid schema for response_format"]],
    );
    assert.deepEqual([server.requests.length, silent.requests.length], [0, 0]);
    assert.deepEqual(
      service.model.requests.map(({ kind }) => kind),
      ["probe"],
    );
  });

  it("may ask the person of the turn a question, which an external turn declines at once", async () => {
    const server = await start([
      {
        name: "ask",
        async call(_, __, protocol) {
          const answer = await protocol.elicitInput({
            message: "Which deal?",
            requestedSchema: {
              type: "object",
              properties: { deal: { type: "string", enum: ["A", "B"] } },
              required: ["deal"],
            },
          });
          return text(JSON.stringify(answer));
        },
      },
    ]);
    const session = await play([use("ask")], { mcpServers: { crm: { url: server.url } } });
    assert.match(service.model.requests.at(-1)?.toolResults[0] ?? "", /"action":"decline"/);
    steps([use("ask")]);
    const { statusUrl } = await followAsPerson(session, "again");
    await waitUntil(
      async () => only(await readEvents(service, session.sessionId), "elicitation.requested").length > 0,
      "the person is asked",
    );
    const [question] = only(await readEvents(service, session.sessionId), "elicitation.requested");
    assert.deepEqual(question?.form?.properties, { deal: { type: "string", enum: ["A", "B"] } });
    const { sessionId } = session;
    const answer = { sessionId, elicitationId: question?.elicitationId ?? "" };
    await answerElicitation(service.container.services, answer, { deal: "B" }, "person");
    await service.completed(statusUrl);
    assert.match(service.model.requests.at(-1)?.toolResults[0] ?? "", /"content":\{"deal":"B"\}/);

    // If the person sends a message instead of an answer, the question is withdrawn.
    service.model.respondWith(({ userText, toolResults }) => {
      if (userText.includes("never mind")) return { text: "As you wish." };
      return toolResults.length > 0 ? { text: "Done." } : use("ask");
    });
    const followUp = await followAsPerson(session, "once more");
    const count = async () =>
      only(await readEvents(service, session.sessionId), "elicitation.requested").length;
    await waitUntil(async () => (await count()) === 2, "the person is asked again");
    await followAsPerson(session, "never mind", service, "steer");
    await service.completed(followUp.statusUrl);
    const results = only(await readEvents(service, session.sessionId), "tool.result");
    assert.match(results.at(-1)?.preview ?? "", /"action":"cancel"/);
  });
});

describe("a turn that is interrupted", () => {
  it("continues without a second listing; an open call is unknown, or is repeated if it is idempotent", async () => {
    const hang = () => new Promise<never>(() => {});
    const server = await start([
      { name: "find", annotations: { readOnlyHint: true } },
      {
        name: "pay",
        async call(_, __, protocol) {
          const requestedSchema = { type: "object", properties: { sum: { type: "number" } } } as const;
          await protocol.elicitInput({ message: "How much?", requestedSchema });
          return hang();
        },
      },
    ]);
    const other = await start([
      {
        name: "put",
        annotations: { idempotentHint: true },
        call: () => (other.messages("tools/call").length === 1 ? hang() : text("put")),
      },
    ]);
    const first = await openTestService({ SANDBOX: "none" });
    first.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("hello")) return { text: "Hello." };
      return userText.includes("put") ? use("put") : use(answersSoFar === 0 ? "find" : "pay");
    });
    const paying = await first.create("hello", { mcpServers: { crm: { url: server.url } } });
    await first.completed(paying.statusUrl);
    const paid = await followAsPerson(paying, "pay", first);
    const putting = await first.create("put", { mcpServers: { crm: { url: other.url } } });
    const isAsked = async () =>
      only(await readEvents(first, paying.sessionId), "elicitation.requested").length === 1;
    await waitUntil(isAsked, "the second call asks the person");
    await waitUntil(() => other.messages("tools/call").length === 1, "the call is made");
    await first.close({ keepFiles: true });

    const second = await openTestService({ SANDBOX: "none" }, first.dataDir);
    second.model.respondWith(({ userText, answersSoFar }) =>
      userText.includes("put") || answersSoFar > 2 ? { text: "Done." } : use("find"),
    );
    await second.completed(paid.statusUrl);
    await second.completed(putting.statusUrl);
    const readResults = async ({ sessionId }: { sessionId: string }) =>
      only(await readEvents(second, sessionId), "tool.result").map(({ toolName, state }) => [
        toolName,
        state,
      ]);
    assert.deepEqual(await readResults(paying), [
      ["mcp_crm__find", "succeeded"],
      ["mcp_crm__pay", "unknown"],
      ["mcp_crm__find", "succeeded"],
    ]);
    assert.deepEqual(await readResults(putting), [["mcp_crm__put", "succeeded"]]);
    const questions = only(await readEvents(second, paying.sessionId), "elicitation.resolved");
    assert.deepEqual(
      questions.map(({ state }) => state),
      ["withdrawn"],
      "the question of the call is withdrawn",
    );
    assert.ok(offered(second).some((names) => names.join() === "mcp_crm__find,mcp_crm__pay"));
    const count = (method: string) => [server, other].map((each) => each.messages(method).length);
    assert.deepEqual(count("tools/list"), [2, 1], "one listing for each run");
    assert.deepEqual(count("initialize"), [3, 2], "a new connection for the next call");
    assert.deepEqual(count("tools/call"), [3, 2]);
    await second.close();
  });
});
