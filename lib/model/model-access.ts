import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { RequestHold } from "./calls/hold-requests.ts";
import type { ToolErrorForm } from "./calls/write-prompt.ts";

/** Settings of the model: the values of `OPENAI_API_KEY`, `AGENT_MODEL` and related variables. */
export type ModelConfig = {
  openaiApiKey?: string | undefined;
  /** Base URL of a server with an OpenAI-compatible API; works without a key. */
  openaiBaseUrl?: string | undefined;
  gatewayApiKey?: string | undefined;
  /** An OpenAI id (`gpt-…`), a gateway id (`vendor/model`), or `demo`. */
  agentModel?: string | undefined;
  api: "responses" | "chat";
  /**
   * Context size in tokens. A turn compacts its context when it comes near this size. Default: the model's own context
   * size.
   */
  contextTokens?: number | undefined;
  /** Maximum output tokens of a call (`AGENT_MAX_OUTPUT_TOKENS`). Default: the provider's. */
  maxOutputTokens?: number | undefined;
  /** Origin of the demo page, which the demo model opens if there is no other page. */
  demoOrigin: string;
  /** Delay between the pieces of a streamed text of the demo model. */
  demoPaceMs?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
};

/** The model of a deployment, created once at start and shared by all calls. */
export type ModelAccess = {
  /** `gpt-…`, `anthropic/…` or `demo`. */
  id: string;
  /** Name shown to people, in the banner and on the page. */
  label: string;
  isDemo: boolean;
  contextTokens: number;
  /** Sent with every call except the probe of a schema, which has its own limit; not sent if undefined. */
  maxOutputTokens?: number | undefined;
  model: LanguageModelV4;
  /** Whether the model's stream can contain the events of OpenAI's API, which say more about the end of an answer. */
  hasRawEvents?: boolean;
  /** Composes a call without sending it. Absent for a model that makes no requests. */
  hold?: RequestHold["hold"];
  /** Pass these with every call. They make the provider store nothing, so each request contains the earlier turns. */
  providerOptions: SharedV4ProviderOptions;
  /** Whether pictures in messages and tool results reach the model. */
  supportsImages: boolean;
  toolErrors: ToolErrorForm;
  /** Receives the outcome of each call; absent if outcomes are not observed. */
  outcomes?: ModelOutcomes;
};

/** Records the outcomes of model calls. The code that makes the calls reports them. */
export type ModelOutcomes = {
  recordSuccess: () => void;
  /** @param signal the call's signal. If it is aborted, the call was stopped or timed out. */
  recordFailure: (error: unknown, signal: AbortSignal | undefined) => void;
};
