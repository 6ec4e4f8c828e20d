import { createOpenAI } from "@ai-sdk/openai";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { findContextTokens } from "./context-tokens.ts";
import { createDemoModel } from "./demo-model.ts";
import type { ModelAccess, ModelConfig } from "./model-access.ts";

/** Used when `AGENT_MODEL` is not set. */
export const defaultOpenaiModel = "gpt-5.4";
/** Used when only the gateway's key is set. */
const defaultGatewayModel = `openai/${defaultOpenaiModel}`;

const notStored: SharedV4ProviderOptions = { openai: { store: false } };

/**
 * Chooses the model from the settings, once per process: a `vendor/model` id with the gateway's key goes to the AI Gateway,
 * an OpenAI key or base URL to OpenAI or the server there, a gateway key alone to the gateway, nothing to the built-in demo
 * model. A base URL with a `vendor/model` id and no gateway key sends that id to the server there (many use such names).
 *
 * @throws Error when `AGENT_MODEL` names a model that no key or base URL can reach; it names the variable that is missing.
 */
export async function createModel(config: ModelConfig): Promise<ModelAccess> {
  const hasOpenai = Boolean(config.openaiApiKey || config.openaiBaseUrl);
  const hasGateway = Boolean(config.gatewayApiKey);
  const isGatewayId = config.agentModel?.includes("/") ?? false;

  if (hasGateway && (isGatewayId || !hasOpenai)) return createGatewayAccess(config);
  if (hasOpenai && (!isGatewayId || config.openaiBaseUrl)) return createOpenaiAccess(config);
  if (config.agentModel && config.agentModel !== "demo") {
    const missing = isGatewayId ? "AI_GATEWAY_API_KEY" : "OPENAI_API_KEY or OPENAI_BASE_URL";
    throw new Error(`AGENT_MODEL: ${config.agentModel} needs ${missing}`);
  }
  return createDemoAccess(config);
}

function createOpenaiAccess(config: ModelConfig): ModelAccess {
  const id = config.agentModel || defaultOpenaiModel;
  const openai = createOpenAI({
    // A server of one's own often wants no key, and the client refuses to be without one.
    apiKey: config.openaiApiKey || "no-key",
    // Named even when it is the default, so that the client does not look for it in the environment.
    baseURL: config.openaiBaseUrl || "https://api.openai.com/v1",
    ...(config.fetch ? { fetch: config.fetch } : {}),
  });
  const place = config.openaiBaseUrl ? ` at ${new URL(config.openaiBaseUrl).host}` : " (OpenAI)";
  return {
    id,
    label: `${id}${place}`,
    isDemo: false,
    contextTokens: config.contextTokens ?? findContextTokens(id),
    model: config.api === "chat" ? openai.chat(id) : openai.responses(id),
    providerOptions: notStored,
    // On Chat Completions a picture in a tool result arrives as its base64 text.
    supportsImages: config.api === "responses",
    toolErrors: "text",
  };
}

async function createGatewayAccess(config: ModelConfig): Promise<ModelAccess> {
  // The package is large, and nothing else of it is used while the service runs.
  const { createGateway } = await import("ai");
  const named = config.agentModel || defaultGatewayModel;
  const id = named.includes("/") ? named : `openai/${named}`;
  const gateway = createGateway({
    apiKey: config.gatewayApiKey ?? "",
    ...(config.fetch ? { fetch: config.fetch } : {}),
  });
  return {
    id,
    label: `${id} (AI Gateway)`,
    isDemo: false,
    contextTokens: config.contextTokens ?? findContextTokens(id),
    model: gateway(id),
    providerOptions: notStored,
    supportsImages: true,
    toolErrors: "typed",
  };
}

function createDemoAccess(config: ModelConfig): ModelAccess {
  return {
    id: "demo",
    label: "demo model (no key set; a small rule-based planner)",
    isDemo: true,
    contextTokens: config.contextTokens ?? 128_000,
    model: createDemoModel({ demoOrigin: config.demoOrigin, paceMs: config.demoPaceMs ?? 25 }),
    providerOptions: {},
    supportsImages: false,
    toolErrors: "typed",
  };
}
