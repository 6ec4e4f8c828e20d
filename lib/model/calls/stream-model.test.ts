import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JSONSchema7, LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { jsonSchema, type ModelMessage, streamText, tool } from "ai";
import { z } from "zod";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { createModel } from "../create-model.ts";
import type { AnswerDelta } from "./gather-answer.ts";
import type { ModelTools } from "./model-tool.ts";
import { composeCall, type ModelRequest, streamModel } from "./stream-model.ts";

const server = await startScriptedModel();
after(() => server.close());
const access = await createModel({
  openaiBaseUrl: server.baseUrl,
  agentModel: "gpt-5.4",
  api: "responses",
  demoOrigin: "http://127.0.0.1:1",
});

const inputSchema = {
  type: "object" as const,
  properties: { url: { type: "string" as const } },
  required: ["url"],
};
const input = z.object({ url: z.string(), times: z.int().default(1) });
const definition = { type: "function" as const, name: "look", description: "Looks.", inputSchema };
const named = (name: string, required: string[]) => ({
  definition: { ...definition, name, inputSchema: { type: "object" as const, properties: {}, required } },
  input: z.record(z.string(), z.unknown()),
});
const tools: ModelTools = new Map([["look", { definition, input }]]);
/** More tools: `list` requires no field, and only the definition of `remote` says that it requires one. */
const allTools: ModelTools = new Map([
  ...tools,
  ["list", named("list", [])],
  ["remote", named("remote", ["id"])],
]);
const user = (content: string): ModelMessage => ({ role: "user", content });
const open = () => new AbortController().signal;

async function play(step: Step, request: Partial<ModelRequest> = {}, signal = open()) {
  server.enqueue(step);
  const deltas: AnswerDelta[] = [];
  const modelRequest = { instructions: "Answer.", messages: [user("hi")], tools, ...request };
  const answer = await streamModel(access, modelRequest, signal, (delta) => void deltas.push(delta));
  return { answer, deltas };
}

/** Creates a model in this process that answers with the given stream. */
const modelOf = (
  stream: (signal: AbortSignal | undefined) => Promise<ReadableStream<LanguageModelV4StreamPart>>,
) => {
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not used")),
    doStream: async ({ abortSignal }) => ({ stream: await stream(abortSignal) }),
  };
  const { hold: _, ...inProcess } = access;
  return { ...inProcess, model };
};
const request = { instructions: "Answer.", messages: [user("hi")] };

/** Long enough for a request on loopback to arrive, if one was sent. */
const waitForArrival = () => new Promise((resolve) => setTimeout(resolve, 100));

describe("a composed call", () => {
  for (const api of ["responses", "chat"] as const)
    it(`is sent when it is made, and its request is the usual one (${api})`, async () => {
      const config = {
        openaiBaseUrl: server.baseUrl,
        agentModel: "gpt-5.4",
        demoOrigin: "http://127.0.0.1:1",
      };
      const model = await createModel({ ...config, api });
      const modelRequest = { instructions: "Answer.", messages: [user("hi")], tools };
      const before = server.requests.length;
      const composed = composeCall(model, modelRequest);
      assert.ok(composed);
      await waitForArrival();
      assert.equal(server.requests.length, before);
      server.enqueue({ text: "one" }, { text: "two" });
      const answer = await streamModel(model, modelRequest, open(), () => {}, composed);
      assert.equal(answer.text, "one");
      await streamModel(model, modelRequest, open(), () => {});
      const [held, usual] = server.requests.slice(-2);
      assert.deepEqual(held?.body, usual?.body);
      assert.equal(server.requests.length, before + 2);
    });

  it("is never sent if it is dropped", async () => {
    const before = server.requests.length;
    const composed = composeCall(access, { instructions: "Answer.", messages: [user("hi")] });
    assert.ok(composed);
    composed.drop();
    await assert.rejects(async () => composed.answer, { name: "AbortError" });
    await waitForArrival();
    assert.equal(server.requests.length, before);
  });

  it("is not sent if its turn was stopped meanwhile", async () => {
    const modelRequest = { instructions: "Answer.", messages: [user("hi")] };
    const before = server.requests.length;
    const composed = composeCall(access, modelRequest);
    const stopped = AbortSignal.abort(new Error("stopped"));
    await assert.rejects(
      streamModel(access, modelRequest, stopped, () => {}, composed),
      /stopped/,
    );
    await waitForArrival();
    assert.equal(server.requests.length, before);
  });

  it("fails when it is made, if it cannot be composed", async () => {
    const modelRequest: ModelRequest = {
      instructions: "Answer.",
      messages: [{ role: "user", content: [{ type: "file", data: "x", mediaType: "text/plain" }] }],
    };
    const composed = composeCall(access, modelRequest);
    await waitForArrival();
    await assert.rejects(
      streamModel(access, modelRequest, open(), () => {}, composed),
      /kind file/,
    );
  });

  it("is not offered by a model that makes no requests", () => {
    assert.equal(
      composeCall(
        modelOf(async () => new ReadableStream()),
        request,
      ),
      undefined,
    );
  });
});

describe("an answer", () => {
  it("has its text, reasoning and calls, and reports them piece by piece", async () => {
    const { answer, deltas } = await play({
      reasoning: "I look.",
      textChunks: ["Let me ", "look."],
      toolCalls: [{ name: "look", arguments: { url: "https://shop.example" }, id: "c1" }],
      usage: { inputTokens: 70, outputTokens: 9 },
    });
    assert.equal(answer.text, "Let me look.");
    assert.deepEqual(answer.calls, [
      { callId: "c1", name: "look", input: { url: "https://shop.example", times: 1 } },
    ]);
    assert.equal(answer.end, "complete");
    assert.equal(answer.usage.inputTokens, 70);
    const shown = (kind: string) => deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : []));
    assert.deepEqual(shown("text"), ["Let me ", "look."]);
    assert.equal(shown("reasoning").join(""), "I look.");
    assert.deepEqual(JSON.parse(shown("tool-input").join("")), { url: "https://shop.example" });
  });

  it("without content has no message, and is empty", async () => {
    const { answer } = await play({ text: "" });
    assert.deepEqual([answer.text, answer.calls, answer.end], ["", [], "empty"]);
  });

  it("waits for the listener of a piece before it reads the next", async () => {
    server.enqueue({ textChunks: ["a", "b", "c"] });
    const order: string[] = [];
    await streamModel(access, request, open(), async ({ text }) => {
      order.push(`${text} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(`${text} ends`);
    });
    assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });
});

describe("the calls of an answer", () => {
  const call = async (name: string, args: unknown) => {
    const { answer } = await play({ toolCalls: [{ name, arguments: args, id: "c1" }] }, { tools: allTools });
    const [answered] = answer.calls;
    const [message] = answer.messages;
    const part = Array.isArray(message?.content) ? message.content.at(-1) : undefined;
    return { answered, sent: part?.type === "tool-call" ? part.input : undefined };
  };

  it("may have an empty input if no field is required, which is read as {}", async () => {
    for (const empty of ["", " \n"]) {
      const { answered } = await call("look", empty);
      assert.equal(answered?.error?.message, "The input is empty, but needs: url.");
      assert.deepEqual((await call("list", empty)).answered, { callId: "c1", name: "list", input: {} });
      assert.equal(
        (await call("remote", empty)).answered?.error?.message,
        "The input is empty, but needs: id.",
      );
    }
  });

  it("are refused if their input is nested too deep", async () => {
    const nest = (levels: number) => `{"id": 1, "a": ${"[".repeat(levels)}${"]".repeat(levels)}}`;
    assert.equal((await call("remote", nest(199))).answered?.error, undefined);
    assert.equal((await call("remote", '{"id": "[[[\\"[["}')).answered?.error, undefined);
    for (const levels of [200, 100_000]) {
      const { answered, sent } = await call("remote", nest(levels));
      assert.equal(answered?.error?.message, "The input is nested more than 200 levels deep.");
      assert.deepEqual([answered?.input, sent], [{}, {}]);
    }
  });

  it("have a name that providers accept, whatever the model wrote", async () => {
    for (const [name, sent] of [
      ["look at.this", "look_at_this"],
      ["x".repeat(100_000), "x".repeat(64)],
    ] as const) {
      const { answered } = await call(name, {});
      assert.deepEqual(
        [answered?.name, answered?.error?.message],
        [sent, `There is no tool "${sent}". The tools are: look, list, remote.`],
      );
    }
  });

  it("report which fields are not valid", async () => {
    const { answered, sent } = await call("look", { url: 7 });
    assert.ok(answered?.error instanceof z.ZodError);
    assert.deepEqual(sent, { url: 7 });
  });

  it("are sent back with {} as input when the input is not JSON", async () => {
    const { answered, sent } = await call("look", '{"url": "https:');
    assert.match(answered?.error?.message ?? "", /^The input is not JSON: /);
    assert.equal(answered?.input, '{"url": "https:');
    assert.deepEqual(sent, {});
  });

  it("cannot name a prototype, however it is spelled", async () => {
    for (const key of ["__proto__", "\\u005f_proto__"]) {
      const { answered } = await call("look", `{"url": "a", "${key}": {"isAdmin": true}}`);
      assert.match(answered?.error?.message ?? "", /^The key "__proto__" is not allowed/);
    }
  });

  it("of an unknown tool get an error that lists the known tools", async () => {
    const { answered } = await call("lok", { url: "a" });
    assert.equal(answered?.error?.message, 'There is no tool "lok". The tools are: look, list, remote.');
  });
});

describe("a failed or stopped call", () => {
  it("throws the error that the provider reports in its stream", async () => {
    await assert.rejects(play({ text: "a", failure: { code: "server_error", message: "It broke." } }), {
      message: "It broke.",
    });
  });

  it("throws the provider's error response", async () => {
    await assert.rejects(play({ status: 429, message: "Slow down." }), { statusCode: 429 });
  });

  it("throws the reason of a stop, before the first byte and in the middle", async () => {
    for (const holdAt of ["headers", "end"] as const) {
      const stop = new AbortController();
      const played = play({ text: "some text", hold: "once", holdAt }, {}, stop.signal);
      setTimeout(() => stop.abort(new Error("stopped by the test")), 50);
      await assert.rejects(played, { message: "stopped by the test" });
    }
    const before = server.requests.length;
    const stopped = AbortSignal.abort(new Error("stopped before"));
    await assert.rejects(
      streamModel(access, request, stopped, () => {}),
      { message: "stopped before" },
    );
    assert.equal(server.requests.length, before);
  });

  it("ends when the model ignores its signal, and cancels a stream that arrives late", async () => {
    const stop = new AbortController();
    const { promise: cancelled, resolve: noteCancel } = Promise.withResolvers<unknown>();
    const { promise: late, resolve: sendLate } =
      Promise.withResolvers<ReadableStream<LanguageModelV4StreamPart>>();
    const played = streamModel(
      modelOf(() => late),
      request,
      stop.signal,
      () => {},
    );
    stop.abort(new Error("stopped"));
    await assert.rejects(played, { message: "stopped" });
    sendLate(new ReadableStream({ cancel: noteCancel }));
    assert.deepEqual(await cancelled, new Error("stopped"));

    const silent = new AbortController();
    const waits = modelOf(async () => new ReadableStream({ start() {} }));
    const waiting = streamModel(waits, request, silent.signal, () => {});
    setTimeout(() => silent.abort(new Error("stopped while silent")), 20);
    await assert.rejects(waiting, { message: "stopped while silent" });
  });

  it("throws when the stream ends without a finish part", async () => {
    const stream = async () =>
      new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          controller.enqueue({ type: "text-start", id: "1" });
          controller.enqueue({ type: "text-delta", id: "1", delta: "half" });
          controller.close();
        },
      });
    await assert.rejects(
      streamModel(modelOf(stream), request, open(), () => {}),
      {
        name: "UnfinishedAnswerError",
      },
    );
  });

  it("throws the error of its listener, and closes the stream", async () => {
    server.enqueue({ text: "some text", hold: "once" });
    const played = streamModel(access, request, open(), () => {
      throw new Error("the listener failed");
    });
    await assert.rejects(played, { message: "the listener failed" });
  });
});

describe("the prompt", () => {
  const stored: ModelMessage[] = [
    user("Compare the offers"),
    {
      role: "assistant",
      content: [
        {
          type: "reasoning",
          text: "First one.",
          providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: "abc" } },
        },
        { type: "text", text: "I look.", providerOptions: { openai: { itemId: "msg_1" } } },
        { type: "text", text: "" },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: { url: "a" } },
        { type: "tool-call", toolCallId: "c2", toolName: "look", input: { url: "b" } },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "look",
          output: { type: "json", value: { price: 42 } },
        },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c2",
          toolName: "look",
          output: {
            type: "content",
            value: [
              { type: "text", text: "a picture" },
              { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } },
            ],
          },
        },
      ],
    },
    { role: "assistant", content: "It costs 42." },
    user("Thanks"),
  ];

  it("equals the prompt that the AI SDK's streamText sends for the same conversation, tools and options", async () => {
    server.enqueue({ text: "ok" });
    await streamModel(access, { instructions: "Answer.", messages: stored, tools }, open(), () => {});
    const own = server.requests.at(-1)?.body;
    server.enqueue({ text: "ok" });
    const result = streamText({
      model: access.model,
      instructions: "Answer.",
      messages: stored,
      tools: { look: tool({ description: "Looks.", inputSchema: jsonSchema(inputSchema) }) },
      providerOptions: access.providerOptions,
      maxRetries: 0,
    });
    await result.consumeStream();
    assert.deepEqual(own, server.requests.at(-1)?.body);
  });

  it("has the schemas that the provider would send, with and without keywords that it removes", async () => {
    const schemas: JSONSchema7[] = [
      {
        type: "object",
        properties: { name: { type: "string", enum: ["a"] }, list: { type: "array", items: {} } },
      },
      { type: "object", properties: { name: { type: "string", pattern: "^(?=a)b" } } },
      { type: "object", propertyNames: { type: "string" }, properties: { allOf: { type: "string" } } },
      { type: "object", allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { type: "object" } } },
    ];
    const named = schemas.map((schema, index) => [`tool${index}`, schema] as const);
    server.enqueue({ text: "ok" });
    const ownTools: ModelTools = new Map(
      named.map(([name, schema]) => [
        name,
        { definition: { type: "function", name, description: "", inputSchema: schema }, input },
      ]),
    );
    await streamModel(
      access,
      { instructions: "Answer.", messages: [user("hi")], tools: ownTools },
      open(),
      () => {},
    );
    const own = server.requests.at(-1)?.body;
    server.enqueue({ text: "ok" });
    const result = streamText({
      model: access.model,
      instructions: "Answer.",
      messages: [user("hi")],
      tools: Object.fromEntries(
        named.map(([name, schema]) => [name, tool({ description: "", inputSchema: jsonSchema(schema) })]),
      ),
      providerOptions: access.providerOptions,
      maxRetries: 0,
    });
    await result.consumeStream();
    assert.deepEqual(own?.tools, server.requests.at(-1)?.body.tools);
  });

  it("has tool errors as text, and omits fields that the service adds to messages", async () => {
    const messages: ModelMessage[] = [
      user("Go"),
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "look",
            output: { type: "error-text", value: 'no "url"\nat all' },
          },
        ],
        ...{ resultId: "res_secret" },
      },
    ];
    await play({ text: "ok" }, { messages });
    const { body, toolResults } = server.requests.at(-1) ?? {};
    assert.deepEqual(toolResults, ['Error: no "url"\nat all']);
    assert.ok(!JSON.stringify(body).includes("res_secret"));
  });

  it("has the response format instead of tools", async () => {
    const schema = { ...inputSchema, additionalProperties: false };
    const { answer } = await play(
      { json: { url: "a" } },
      { tools: new Map(), responseFormat: { type: "json", schema, name: "deliverable" } },
    );
    assert.equal(answer.text, '{"url":"a"}');
    const body = server.requests.at(-1)?.body as { text?: { format?: { name?: string } }; tools?: unknown };
    assert.equal(body.text?.format?.name, "deliverable");
    assert.equal(body.tools, undefined);
  });
});
