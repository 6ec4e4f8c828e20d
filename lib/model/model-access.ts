import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ToolErrorForm } from "./calls/write-prompt.ts";

/** What the settings say about the model; the values of `OPENAI_API_KEY`, `AGENT_MODEL` and their neighbours. */
export type ModelConfig = {
  openaiApiKey?: string | undefined;
  /** Any server that speaks OpenAI's wire; works without a key. */
  openaiBaseUrl?: string | undefined;
  gatewayApiKey?: string | undefined;
  /** An OpenAI id (`gpt-…`) or a gateway id (`vendor/model`). */
  agentModel?: string | undefined;
  api: "responses" | "chat";
  /** Budget at which a turn compacts its context; default is the model's own. */
  contextTokens?: number | undefined;
  /** Origin under which the demo page is served, for the demo model's page of last resort. */
  demoOrigin: string;
  /** Wait between the pieces of a streamed text of the demo model. */
  demoPaceMs?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
};

/** The one model of a deployment, built once at start and shared by all calls. */
export type ModelAccess = {
  /** `gpt-…`, `anthropic/…` or `demo`. */
  id: string;
  /** For people: the banner and the page. */
  label: string;
  isDemo: boolean;
  contextTokens: number;
  model: LanguageModelV4;
  /** To be passed with every call: earlier turns travel in the request and not as references to the provider's storage. */
  providerOptions: SharedV4ProviderOptions;
  /** Whether pictures in messages and tool results reach the model. */
  supportsImages: boolean;
  toolErrors: ToolErrorForm;
  /** Is told how each call came out; absent where nobody asks. */
  outcomes?: ModelOutcomes;
};

/** Takes note of how calls came out. */
export type ModelOutcomes = {
  noteSuccess: () => void;
  /** @param signal of the call, which may have ended it. */
  noteFailure: (error: unknown, signal: AbortSignal | undefined) => void;
};
