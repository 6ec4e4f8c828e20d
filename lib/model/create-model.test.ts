import assert from "node:assert/strict";
import { test } from "node:test";
import { createModel, defaultOpenaiModel } from "./create-model.ts";
import type { ModelConfig } from "./model-access.ts";

const base: ModelConfig = { api: "responses", demoOrigin: "http://127.0.0.1:3000" };

const table: [
  title: string,
  config: Partial<ModelConfig>,
  expected: { id: string; provider: RegExp; isDemo: boolean },
][] = [
  ["without a key: the demo model", {}, { id: "demo", provider: /^demo$/, isDemo: true }],
  [
    "AGENT_MODEL may name the demo model",
    { agentModel: "demo" },
    { id: "demo", provider: /^demo$/, isDemo: true },
  ],
  [
    "AGENT_MODEL=demo selects the demo model even with keys",
    { agentModel: "demo", openaiApiKey: "k", gatewayApiKey: "g" },
    { id: "demo", provider: /^demo$/, isDemo: true },
  ],
  [
    "with an OpenAI key: the default OpenAI model",
    { openaiApiKey: "k" },
    { id: defaultOpenaiModel, provider: /^openai\.responses$/, isDemo: false },
  ],
  [
    "AGENT_MODEL_API=chat speaks Chat Completions",
    { openaiApiKey: "k", api: "chat", agentModel: "gpt-4.1" },
    { id: "gpt-4.1", provider: /^openai\.chat$/, isDemo: false },
  ],
  [
    "a base URL works without a key",
    { openaiBaseUrl: "http://127.0.0.1:1/v1" },
    { id: defaultOpenaiModel, provider: /^openai\./, isDemo: false },
  ],
  [
    "a vendor/model id goes to the gateway",
    { openaiApiKey: "k", gatewayApiKey: "g", agentModel: "anthropic/claude-x" },
    { id: "anthropic/claude-x", provider: /^gateway$/, isDemo: false },
  ],
  [
    "with only a gateway key: the default model of the gateway",
    { gatewayApiKey: "g" },
    { id: `openai/${defaultOpenaiModel}`, provider: /^gateway$/, isDemo: false },
  ],
  [
    "an id without vendor and only a gateway key: an OpenAI model of the gateway",
    { gatewayApiKey: "g", agentModel: "gpt-4.1" },
    { id: "openai/gpt-4.1", provider: /^gateway$/, isDemo: false },
  ],
  [
    "an OpenAI id goes to OpenAI even with a gateway key",
    { openaiApiKey: "k", gatewayApiKey: "g", agentModel: "gpt-4.1" },
    { id: "gpt-4.1", provider: /^openai\./, isDemo: false },
  ],
  [
    "a compatible server may use vendor/model ids",
    { openaiBaseUrl: "http://127.0.0.1:1/v1", agentModel: "meta/llama" },
    { id: "meta/llama", provider: /^openai\./, isDemo: false },
  ],
];

for (const [title, config, { id, provider, isDemo }] of table) {
  test(title, async () => {
    const access = await createModel({ ...base, ...config });
    assert.equal(access.id, id);
    assert.match(access.model.provider, provider);
    assert.equal(access.isDemo, isDemo);
    assert.equal(access.model.specificationVersion, "v4");
  });
}

test("a model that no key can reach is refused with the missing variable", async () => {
  await assert.rejects(
    createModel({ ...base, agentModel: "gpt-4.1" }),
    /AGENT_MODEL: gpt-4.1 needs OPENAI_API_KEY/,
  );
  await assert.rejects(
    createModel({ ...base, openaiApiKey: "k", agentModel: "anthropic/claude-x" }),
    /AGENT_MODEL: anthropic\/claude-x needs AI_GATEWAY_API_KEY/,
  );
});

test("the settings override the context size of the model", async () => {
  assert.equal(
    (await createModel({ ...base, openaiApiKey: "k", agentModel: "gpt-4o" })).contextTokens,
    128_000,
  );
  assert.equal(
    (await createModel({ ...base, openaiApiKey: "k", contextTokens: 9_000 })).contextTokens,
    9_000,
  );
});

test("nothing is stored at the provider", async () => {
  assert.deepEqual((await createModel({ ...base, openaiApiKey: "k" })).providerOptions, {
    openai: { store: false },
  });
});
