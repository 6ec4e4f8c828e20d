import { createOpenAI } from "@ai-sdk/openai";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { createRequestHold } from "./calls/hold-requests.ts";
import { limitResponses } from "./calls/limit-response.ts";
import { findContextTokens } from "./context-tokens.ts";
import { createDemoModel } from "./demo-model.ts";
import type { ModelAccess, ModelConfig } from "./model-access.ts";

/** The OpenAI model that is used when `AGENT_MODEL` is not set. */
export const defaultOpenaiModel = "gpt-5.4";
/** The gateway's model that is used when the gateway's key is set, but `AGENT_MODEL` and OpenAI's settings are not. */
const defaultGatewayModel = `openai/${defaultOpenaiModel}`;

/** `AGENT_MODEL=demo` selects the built-in model, whatever keys are set. */
const DEMO_MODEL = "demo";

const notStored: SharedV4ProviderOptions = { openai: { store: false } };

/**
 * Chooses the model from the settings:
 *
 * - the built-in demo model, if `AGENT_MODEL` is `demo`;
 * - otherwise AI Gateway, if its key is set and either the model's id has the form `vendor/model` or OpenAI is not
 *   configured;
 * - otherwise OpenAI, or the server at the base URL, if an OpenAI key or a base URL is set. With a base URL, the id may
 *   also have the form `vendor/model`, because many compatible servers use such names;
 * - otherwise the built-in demo model.
 *
 * @throws Error when no key or base URL can reach the model in `AGENT_MODEL`. The message names the missing variable.
 */
export async function createModel(config: ModelConfig): Promise<ModelAccess> {
  const hasOpenai = Boolean(config.openaiApiKey || config.openaiBaseUrl);
  const hasGateway = Boolean(config.gatewayApiKey);
  const isGatewayId = config.agentModel?.includes("/") ?? false;

  if (config.agentModel === DEMO_MODEL) return createDemoAccess(config);
  if (hasGateway && (isGatewayId || !hasOpenai)) return createGatewayAccess(config);
  if (hasOpenai && (!isGatewayId || config.openaiBaseUrl)) return createOpenaiAccess(config);
  if (config.agentModel) {
    const missing = isGatewayId ? "AI_GATEWAY_API_KEY" : "OPENAI_API_KEY or OPENAI_BASE_URL";
    throw new Error(`AGENT_MODEL: ${config.agentModel} needs ${missing}`);
  }
  return createDemoAccess(config);
}

function createOpenaiAccess(config: ModelConfig): ModelAccess {
  const id = config.agentModel || defaultOpenaiModel;
  const requests = createRequestHold(limitResponses(config.fetch));
  const openai = createOpenAI({
    // The client requires a key, although compatible servers often need none.
    apiKey: config.openaiApiKey || "no-key",
    // Always set, so that the client does not read it from the environment.
    baseURL: config.openaiBaseUrl || "https://api.openai.com/v1",
    fetch: requests.fetch,
  });
  const place = config.openaiBaseUrl ? ` at ${new URL(config.openaiBaseUrl).host}` : " (OpenAI)";
  return {
    id,
    label: `${id}${place}`,
    isDemo: false,
    contextTokens: config.contextTokens ?? findContextTokens(id),
    maxOutputTokens: config.maxOutputTokens,
    model: config.api === "chat" ? openai.chat(id) : openai.responses(id),
    hasRawEvents: true,
    hold: requests.hold,
    providerOptions: notStored,
    // Chat Completions sends a picture in a tool result as base64 text, so the model cannot see it.
    supportsImages: config.api === "responses",
    toolErrors: "text",
  };
}

async function createGatewayAccess(config: ModelConfig): Promise<ModelAccess> {
  // Imported on demand, because the package is large and no other part of the service needs it.
  const { createGateway } = await import("ai");
  const configuredId = config.agentModel || defaultGatewayModel;
  const id = configuredId.includes("/") ? configuredId : `openai/${configuredId}`;
  const requests = createRequestHold(limitResponses(config.fetch));
  const gateway = createGateway({ apiKey: config.gatewayApiKey ?? "", fetch: requests.fetch });
  return {
    id,
    label: `${id} (AI Gateway)`,
    isDemo: false,
    contextTokens: config.contextTokens ?? findContextTokens(id),
    maxOutputTokens: config.maxOutputTokens,
    model: gateway(id),
    hold: requests.hold,
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
