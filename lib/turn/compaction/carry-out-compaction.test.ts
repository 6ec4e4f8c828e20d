import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type ModelMessage, streamText } from "ai";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import { createModel } from "#lib/model/create-model.ts";
import { estimateMessageTokens } from "../history/estimate-tokens.ts";
import { applyCompaction } from "../history/history-entry.ts";
import { createPromptMeter } from "../history/prompt-meter.ts";
import { carryOutCompaction } from "./carry-out-compaction.ts";
import { type CompactionInput, planCompaction } from "./plan-compaction.ts";
import { SUMMARY_REQUEST } from "./summary-prompt.ts";
import { assistant, createHistory, fill, messagesOf, result, user } from "./testing.ts";

const server = await startScriptedModel({
  script: {
    rules: [{ when: SUMMARY_REQUEST, steps: [{ text: "## Done and found\nThe price is 42 EUR." }] }],
  },
});
after(() => server.close());

const model = await createModel({
  demoOrigin: "http://127.0.0.1:1",
  openaiBaseUrl: server.baseUrl,
  api: "responses",
});
const signal = new AbortController().signal;

/** Creates the input of a compaction from a history of `steps` steps, and plans the compaction. */
function prepare(steps: number, textCharacters: number) {
  const history = createHistory();
  const requestFrom = history.add(user("Compare the offers"));
  for (let index = 0; index < steps; index++) {
    history.add(assistant(fill(`thought ${index}`, textCharacters), [`a${index}`], [`b${index}`]));
    history.add(result(`a${index}`, fill("page", 1_500)));
    history.add(result(`b${index}`, "short"));
  }
  const input: CompactionInput = {
    entries: history.entries,
    budgetTokens: 10_000,
    usedTokens: estimateMessageTokens(messagesOf(history.entries), 4),
    overheadTokens: 0,
    requestFrom,
    picturesShown: 4,
    canReadOn: true,
  };
  const plan = planCompaction(input);
  assert.ok(plan.kind === "offload" || plan.kind === "summarize");
  return { input, plan };
}

/** Sends messages to the scripted provider. @returns the field `input` of the request that the provider received. */
async function send(messages: ModelMessage[]) {
  server.enqueue({ text: "done" });
  const stream = streamText({ model: model.model, messages, providerOptions: model.providerOptions });
  await stream.text;
  return server.requests.at(-1)?.body.input as Record<string, unknown>[];
}

describe("carryOutCompaction", () => {
  it("offloads without a model call", async () => {
    const { input, plan } = prepare(20, 40);
    const [before, outcome] = [server.requests.length, await carryOutCompaction(model, input, plan, signal)];
    assert.equal(server.requests.length, before);
    assert.equal(outcome.kind, "compacted");
    assert.equal(outcome.event.how, "offloaded");
    assert.ok(outcome.event.tokensAfter <= 5_000 && outcome.event.messagesReplaced < 20);
  });

  it("replaces old messages by the model's summary, and reports the size of what is left", async () => {
    const { input, plan } = prepare(16, 1_700);
    const outcome = await carryOutCompaction(model, input, plan, signal);
    assert.equal(outcome.kind, "compacted");
    assert.equal(outcome.event.how, "summarized");
    const entries = applyCompaction(input.entries, outcome.compaction);
    assert.equal(outcome.event.tokensAfter, estimateMessageTokens(messagesOf(entries), 4));
    assert.ok(outcome.event.tokensAfter < plan.tokensAfter);
    assert.equal(outcome.event.tokensBefore, input.usedTokens);
    assert.ok((outcome.usage?.inputTokens ?? 0) > 0);
    assert.equal(planCompaction({ ...input, entries, usedTokens: outcome.event.tokensAfter }).kind, "none");
  });

  it("makes a history that survives JSON, that a provider accepts, and that is sent without the service's own fields", async () => {
    const { input, plan } = prepare(16, 1_700);
    const outcome = await carryOutCompaction(model, input, plan, signal);
    assert.equal(outcome.kind, "compacted");
    const stored = JSON.parse(JSON.stringify(outcome.compaction)) as typeof outcome.compaction;
    assert.deepEqual(stored, outcome.compaction);
    const sent = await send(messagesOf(applyCompaction(input.entries, stored)));
    const ids = (type: string) => sent.filter((item) => item.type === type).map((item) => item.call_id);
    assert.ok(ids("function_call").length > 1);
    assert.deepEqual(ids("function_call").toSorted(), ids("function_call_output").toSorted());
    assert.match(JSON.stringify(sent.slice(0, 2)), /Compare the offers.*Written by this service.*42 EUR/);
    assert.doesNotMatch(JSON.stringify(sent), /resultId"|"position"|isSummary/);
  });

  it("changes nothing if the summary fails", async () => {
    const { input, plan } = prepare(16, 1_700);
    server.respondWith(() => ({ status: 503, message: "Overloaded" }));
    const outcome = await carryOutCompaction(model, input, plan, signal);
    server.respondWith(() => undefined);
    assert.equal(outcome.kind, "failed");
    assert.equal(outcome.failure.isRetryable, true);
    assert.equal(planCompaction(input).kind, plan.kind);
  });

  it("estimates the new size at the ratio that the provider reported before", async () => {
    const { input, plan } = prepare(16, 1_700);
    const meter = createPromptMeter(4);
    const prompt = (messages: ModelMessage[]) => ({ instructions: "", tools: new Map(), messages });
    meter.report(prompt(messagesOf(input.entries)), input.usedTokens * 1.4);
    const outcome = await carryOutCompaction(
      model,
      { ...input, usedTokens: input.usedTokens * 1.4 },
      plan,
      signal,
    );
    assert.equal(outcome.kind, "compacted");
    const after = messagesOf(applyCompaction(input.entries, outcome.compaction));
    assert.equal(meter.count(prompt(after)), outcome.event.tokensAfter);
  });
});
