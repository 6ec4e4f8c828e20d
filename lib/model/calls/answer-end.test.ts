import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { createModel } from "../create-model.ts";
import { type AnswerEnd, classifyEnd } from "./answer-end.ts";
import { streamModel } from "./stream-model.ts";

describe("the end of an answer", () => {
  const cases: [unified: Parameters<typeof classifyEnd>[0]["unified"], raw: string | undefined, AnswerEnd][] =
    [
      ["stop", undefined, "complete"],
      ["stop", "stop", "complete"],
      ["stop", "a word of a gateway", "complete"],
      ["tool-calls", "tool_use", "complete"],
      ["tool-calls", "max_tokens", "cut_off"],
      ["other", "eos", "complete"],
      ["other", "STOP", "complete"],
      ["length", "length", "cut_off"],
      ["other", "MAX_TOKENS", "cut_off"],
      ["content-filter", "stop", "filtered"],
      ["other", "SAFETY", "filtered"],
      ["error", undefined, "failed"],
      ["interrupted", undefined, "failed"],
      ["other", "error", "failed"],
      ["other", "abort", "failed"],
      ["other", "", "unknown"],
      ["other", undefined, "unknown"],
      ["other", "mystery", "unknown"],
    ];
  for (const [unified, raw, end] of cases)
    it(`${unified} with the provider's reason ${raw} is ${end}`, () => {
      assert.equal(classifyEnd({ unified, raw }), end);
    });

  it("is not complete if the provider says that the answer is incomplete", () => {
    assert.equal(classifyEnd({ unified: "stop", raw: undefined }, { isIncomplete: true }), "unknown");
    assert.equal(classifyEnd({ unified: "tool-calls", raw: undefined }, { isIncomplete: true }), "unknown");
    assert.equal(classifyEnd({ unified: "other", raw: "stop" }, { isIncomplete: true }), "unknown");
    assert.equal(
      classifyEnd({ unified: "length", raw: "max_output_tokens" }, { isIncomplete: true }),
      "cut_off",
    );
  });
});

describe("the end of an answer on the wire", () => {
  const toolCalls = [{ name: "look", arguments: {} }];
  async function play(api: "responses" | "chat", step: Step): Promise<AnswerEnd> {
    const server = await startScriptedModel({ script: { steps: [step] } });
    try {
      const config = { openaiBaseUrl: server.baseUrl, demoOrigin: "http://127.0.0.1:1" };
      const model = await createModel({ ...config, api });
      const request = { instructions: "Answer.", messages: [{ role: "user" as const, content: "hi" }] };
      return (await streamModel(model, request, new AbortController().signal, () => {})).end;
    } finally {
      await server.close();
    }
  }

  const both: [Step, AnswerEnd][] = [
    [{ text: "a", toolCalls }, "complete"],
    [{ text: "" }, "empty"],
    [{ text: " \n" }, "empty"],
    [{ reasoning: "I think." }, "empty"],
    [{ toolCalls }, "empty"],
    [{ text: "", finish: "length" }, "cut_off"],
    [{ text: "", finishReason: "mystery" }, "unknown"],
    [{ text: "a", finish: "length", toolCalls }, "cut_off"],
    [{ text: "a", finish: "content_filter", toolCalls }, "filtered"],
    [{ finish: "refusal" }, "filtered"],
    [{ text: "a", finishReason: "mystery", toolCalls }, "unknown"],
    [{ text: "a", finishReason: "mystery" }, "unknown"],
  ];
  for (const api of ["responses", "chat"] as const)
    for (const [step, end] of both)
      it(`${api}: ${JSON.stringify(step)} is ${end}`, async () => {
        assert.equal(await play(api, step), end);
      });

  it("of a response that is incomplete without a reason is unknown", async () => {
    assert.equal(await play("responses", { text: "a", finishReason: null, toolCalls }), "unknown");
    assert.equal(await play("responses", { text: "a", finishReason: null }), "unknown");
  });

  it("of a chat stream without a finish reason is failed", async () => {
    assert.equal(await play("chat", { text: "a", finishReason: null, toolCalls }), "failed");
  });

  it("of a chat stream with the reason error is failed", async () => {
    assert.equal(await play("chat", { text: "a", finishReason: "error", toolCalls }), "failed");
  });

  it("of a chunk with an error next to the reason is that error", async () => {
    const step = { text: "a", toolCalls, chunkError: { message: "Upstream is gone.", code: 502 } };
    await assert.rejects(play("chat", step), { message: "Upstream is gone.", code: 502 });
  });
});
