import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSchema, type ModelMessage, streamText, type ToolSet } from "ai";
import { createModel } from "./create-model.ts";

const access = await createModel({ api: "responses", demoOrigin: "http://127.0.0.1:3000", demoPaceMs: 0 });

const inputSchema = jsonSchema<never>({ type: "object" });
const tools: ToolSet = {
  browser_execute: { inputSchema },
  dom_query: { inputSchema },
  screenshot: { inputSchema },
};

/** Results of the tools. The test uses them instead of a browser. */
const answers: Record<string, string> = {
  browser_execute: JSON.stringify({ url: "http://127.0.0.1:3000/demo/checkout.html", title: "Checkout" }),
  dom_query:
    '1 element matches. <data-ab12>\n"Checkout" http://127.0.0.1:3000/demo/checkout.html\ntextbox "Email" [e1] required selector "#email" box 0,0 10×10\n</data-ab12>',
  screenshot: "stored as ev_1",
};

async function playTurn(messages: ModelMessage[]) {
  const used: string[] = [];
  for (let step = 0; step < 10; step += 1) {
    const result = streamText({
      model: access.model,
      instructions: "Current page: about:blank",
      messages,
      tools,
      maxRetries: 0,
      providerOptions: access.providerOptions,
    });
    const deltas: string[] = [];
    for await (const part of result.stream) if (part.type === "text-delta") deltas.push(part.text);
    const { toolCalls, finishReason, usage } = await result.finalStep;
    assert.ok((usage.outputTokens ?? 0) > 0);
    messages.push(...(await result.responseMessages));
    if (toolCalls.length === 0) {
      assert.equal(finishReason, "stop");
      return { used, deltas };
    }
    assert.equal(finishReason, "tool-calls");
    for (const { toolCallId, toolName } of toolCalls) {
      used.push(toolName);
      const output = { type: "text" as const, value: answers[toolName] ?? "" };
      messages.push({ role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] });
    }
  }
  return assert.fail("the turn did not end");
}

test("a turn over the real SDK uses the tools and streams its report in small pieces", async () => {
  const messages: ModelMessage[] = [
    { role: "user", content: "look at the checkout and tell me what it asks for" },
  ];
  const { used, deltas } = await playTurn(messages);
  assert.deepEqual(used, ["browser_execute", "dom_query", "screenshot"]);
  assert.ok(deltas.length > 5);
  assert.match(deltas.join(""), /\| Email \| text \| yes \|[\s\S]*Built-in demo model/);

  messages.push({ role: "user", content: "and which headings does it have?" });
  const { used: second } = await playTurn(messages);
  assert.deepEqual(second, ["dom_query"]);
  const ids = messages.flatMap(({ role, content }) =>
    role === "assistant" && Array.isArray(content)
      ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
      : [],
  );
  assert.equal(new Set(ids).size, ids.length);

  const generated = await access.model.doGenerate({
    prompt: [
      { role: "user", content: [{ type: "text", text: "x" }] },
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "c", toolName: "dom_query", input: {} }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "dom_query",
            output: { type: "text", value: answers.dom_query ?? "" },
          },
        ],
      },
    ],
    responseFormat: {
      type: "json",
      schema: {
        type: "object",
        properties: { fields: { type: "array", items: { type: "string" } } },
        required: ["fields"],
      },
    },
  });
  const [part] = generated.content;
  assert.deepEqual(part?.type === "text" ? JSON.parse(part.text) : undefined, { fields: ["Email"] });
});

test("a probe is accepted", async () => {
  const generated = await access.model.doGenerate({
    prompt: [{ role: "user", content: [{ type: "text", text: "probe" }] }],
    responseFormat: { type: "json", schema: { type: "object", properties: {} } },
    maxOutputTokens: 16,
  });
  assert.deepEqual(generated.content, [{ type: "text", text: "{}" }]);
});

test("a stopped call ends its stream", async () => {
  const controller = new AbortController();
  const slow = await createModel({
    api: "responses",
    demoOrigin: "http://127.0.0.1:3000",
    demoPaceMs: 60_000,
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }];
  const { stream } = await slow.model.doStream({ prompt, abortSignal: controller.signal });
  const reader = stream.getReader();
  const read = (async () => {
    while (!(await reader.read()).done);
  })();
  controller.abort();
  await assert.rejects(read, { name: "AbortError" });
});
