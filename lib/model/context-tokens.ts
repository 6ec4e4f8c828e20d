/**
 * What a prompt may hold, in tokens, by the beginning of the model's name; longer beginnings before shorter ones.
 * Deliberately on the low side, and without the part of a window that a vendor sets aside for the answer.
 */
const WINDOWS: [prefix: string, tokens: number][] = [
  ["gpt-4o", 128_000],
  ["gpt-4.1", 1_000_000],
  ["gpt-4-turbo", 128_000],
  ["gpt-4", 8_000],
  ["gpt-3.5", 16_000],
  ["gpt-5", 272_000],
  ["gpt-6", 272_000],
  ["o1-mini", 128_000],
  ["o1-preview", 128_000],
  ["o1", 200_000],
  ["o3", 200_000],
  ["o4", 200_000],
  ["claude", 200_000],
  ["gemini", 1_000_000],
  ["grok", 256_000],
];

/** For a name that the table does not know. */
const UNKNOWN_TOKENS = 128_000;

/**
 * Tokens that fit the context of a model named by an OpenAI id or a gateway id (`vendor/model`).
 * A name that is not known is taken for 128,000; `AGENT_CONTEXT_TOKENS` overrides either.
 */
export function findContextTokens(modelId: string): number {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  return WINDOWS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? UNKNOWN_TOKENS;
}
